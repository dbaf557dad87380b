"""An edit on disk: the whole file or nothing, in every way it can go wrong; and back again."""

import json
import os
import stat
import subprocess
import sys
import textwrap

import pytest

from doctor.fix import undo as undoing
from doctor.fix.plan import Plan
from doctor.fix.write import apply, entries, state_folder
from doctor.outside import Outside, OutsideError

OLD, NEW = b'{"a": 1}\n', b'{"a": 2}\n'


@pytest.fixture
def world(tmp_path):
    return Outside({"HOME": str(tmp_path)}, "linux")


def plan(path, before=OLD, after=NEW):
    return Plan(str(path), os.path.realpath(path), before, after, ())


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    path.chmod(0o640)
    return path


def test_content_changes_and_nothing_else_does(world, file):
    entry = apply(world, plan(file), "client/x", "A client")
    assert file.read_bytes() == NEW and stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(file.parent) == [".local", "settings.json"] or sorted(os.listdir(file.parent)) == [
        ".local",
        "settings.json",
    ]
    with open(entry.backup, "rb") as copy:
        assert copy.read() == OLD
    assert stat.S_IMODE(os.stat(entry.backup).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(entry.backup)).st_mode) == 0o700
    assert (entries(world)[0].rule, entries(world)[0].client) == ("client/x", "A client")


def test_attributes_stay(world, file):
    try:
        os.setxattr(file, "user.note", b"mine")
    except (OSError, AttributeError):
        pytest.skip("no extended attributes here")
    apply(world, plan(file), "r", "c")
    assert os.getxattr(file, "user.note") == b"mine"


def test_a_link_stays_a_link(world, file, tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(file)
    apply(world, plan(link), "r", "c")
    assert link.is_symlink() and file.read_bytes() == NEW
    undoing.undo(world)
    assert link.is_symlink() and file.read_bytes() == OLD


def test_a_file_that_changed_meanwhile_is_left_alone(world, file):
    file.write_bytes(b'{"a": 7}\n')
    with pytest.raises(OutsideError) as error:
        apply(world, plan(file), "r", "c")
    assert error.value.kind == "changed" and file.read_bytes() == b'{"a": 7}\n'
    assert not [name for name in os.listdir(file.parent) if name.startswith(".doctor-")]


def test_a_change_while_writing_is_seen(world, file, monkeypatch):
    sync = os.fsync

    def other_program(handle):
        if file.read_bytes() == OLD and entries(world):  # the copy is made, the file is next
            file.write_bytes(b"other")
        sync(handle)

    monkeypatch.setattr(os, "fsync", other_program)
    with pytest.raises(OutsideError) as error:
        apply(world, plan(file), "r", "c")
    assert error.value.kind == "changed" and file.read_bytes() == b"other"


def test_a_new_file_that_somebody_else_made_first_is_left_alone(world, tmp_path):
    path = tmp_path / "new.json"
    path.write_bytes(b"theirs")
    with pytest.raises(OutsideError):
        apply(world, plan(path, None), "r", "c")
    assert path.read_bytes() == b"theirs"


@pytest.mark.parametrize("why", ["read-only", "other user", "hard link", "folder", "folder gone"])
def test_what_is_not_ours_to_change(world, file, tmp_path, why, monkeypatch):
    target = plan(file)
    if why == "read-only":
        file.chmod(0o440)
    elif why == "other user":
        monkeypatch.setattr(Outside, "user_ids", lambda self: (os.getuid() + 1,))
    elif why == "hard link":
        os.link(file, tmp_path / "twin")
    elif why == "folder":
        file.unlink()
        file.mkdir()
    else:
        file.unlink()
    with pytest.raises(OutsideError):
        apply(world, target, "r", "c")
    assert not file.is_file() or file.read_bytes() == OLD


@pytest.mark.parametrize("nth", range(1, 12))
def test_a_crash_between_any_two_steps_leaves_one_or_the_other(tmp_path, nth):
    """A process that is killed at the nth call that touches the disk."""
    file = tmp_path / "settings.json"
    file.write_bytes(OLD)
    code = textwrap.dedent(
        f"""
        import os, shutil, tempfile
        from doctor.fix.plan import Plan
        from doctor.fix.write import apply
        from doctor.outside import Outside
        left = [{nth}]
        def deadly(function):
            def call(*words, **more):
                left[0] -= 1
                if left[0] == 0:
                    os._exit(9)
                return function(*words, **more)
            return call
        for place, name in ((os, "fsync"), (os, "replace"), (tempfile, "mkstemp"), (shutil, "copystat"), (os, "utime")):
            setattr(place, name, deadly(getattr(place, name)))
        world = Outside({{"HOME": {str(tmp_path)!r}}}, "linux")
        apply(world, Plan({str(file)!r}, {str(file)!r}, {OLD!r}, {NEW!r}, ()), "r", "c")
        """
    )
    ended = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.getcwd()}, timeout=60)
    world = Outside({"HOME": str(tmp_path)}, "linux")
    content = file.read_bytes()
    assert content in (OLD, NEW) and ended.returncode in (0, 9)
    if content == NEW:  # then the way back is there
        assert undoing.undo(world).state == "undone" and file.read_bytes() == OLD
    else:
        assert undoing.undo(world).state == "nothing" and file.read_bytes() == OLD
        apply(world, plan(file), "r", "c")  # and nothing that was left behind is in the way
        assert file.read_bytes() == NEW


def test_a_full_disk_leaves_the_old_file(world, file, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutsideError, match="No space left"):
        apply(world, plan(file), "r", "c")
    assert file.read_bytes() == OLD and not [name for name in os.listdir(file.parent) if name.startswith(".doctor-")]


# --- back again ------------------------------------------------------------------------------------------------------


def test_edits_are_taken_back_one_by_one(world, file):
    apply(world, plan(file), "r", "c")
    apply(world, plan(file, NEW, b"third"), "r", "c")
    assert undoing.undo(world).state == "undone" and file.read_bytes() == NEW
    assert undoing.undo(world).state == "undone" and file.read_bytes() == OLD
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert undoing.undo(world).state == "nothing" and file.read_bytes() == OLD


def test_a_new_file_goes_away_again(world, tmp_path):
    path = tmp_path / "deep" / "er" / "settings.json"
    apply(world, plan(path, None), "r", "c")
    assert path.read_bytes() == NEW and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert undoing.undo(world).state == "undone" and not path.exists()


@pytest.mark.parametrize("how", ["changed", "gone"])
def test_a_file_that_was_changed_since_is_not_taken_back(world, file, how):
    entry = apply(world, plan(file), "r", "c")
    file.unlink() if how == "gone" else file.write_bytes(b"mine")
    done = undoing.undo(world)
    assert (done.state, done.entry.backup) == ("changed", entry.backup)
    assert not file.exists() if how == "gone" else file.read_bytes() == b"mine"


@pytest.mark.parametrize("how", ["changed", "gone"])
def test_a_copy_that_is_not_the_old_file_is_not_used(world, file, how):
    entry = apply(world, plan(file), "r", "c")
    os.unlink(entry.backup)
    if how == "changed":
        with open(entry.backup, "wb") as copy:
            copy.write(b"evil")
    assert undoing.undo(world).state == "lost" and file.read_bytes() == NEW


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"schema_version": 1}', '{"schema_version": 9, "undone": false}', "[" * 9999]
)
def test_notes_that_cannot_be_read_are_passed_over(world, file, text):
    folder = os.path.join(state_folder(world), "99999999T000000Z-001")
    os.makedirs(folder)
    with open(os.path.join(folder, "edit.json"), "w") as note:
        note.write(text)
    assert undoing.undo(world).state == "nothing"
    apply(world, plan(file), "r", "c")
    assert undoing.undo(world).state == "undone"


def test_the_note_holds_no_content(world, file):
    entry = apply(world, plan(file, OLD, b'{"key": "sk-local-test"}'), "r", "c")
    with open(os.path.join(entry.folder, "edit.json")) as note:
        text = note.read()
    assert "sk-local-test" not in text and json.loads(text)["file"] == str(file)


def test_state_goes_where_the_system_keeps_it():
    assert state_folder(Outside({"HOME": "/h", "XDG_STATE_HOME": "/s"}, "linux")) == "/s/doctor/edits"
    windows = Outside({"USERPROFILE": "C:\\U\\me", "LOCALAPPDATA": "C:\\U\\me\\AppData\\Local"}, "win32")
    assert state_folder(windows) == "C:\\U\\me\\AppData\\Local\\doctor\\edits"
