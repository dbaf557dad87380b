"""Commands that doctor writes, read back: no build may find anything wrong in them, and they mean what was planned."""

import pytest

from doctor.launch.write import abilities, changes_of, fresh, words_of
from doctor.memory.options import Options
from tests.memory.planning import TABLE, options_of_words

BUILDS = [
    2800,
    3100,
    3700,
    4200,
    5000,
    6000,
    6324,
    6325,
    6500,
    6800,
    7000,
    7410,
    7560,
    8300,
    9000,
    9200,
    10200,
    10900,
    11434,
]
PLANNED = Options(
    ctx=65536, parallel=2, ngl=999, flash="on", type_k="q8_0", type_v="q8_0", cpu_moe=12, ubatch=256,
    spec_types=("draft-mtp",), draft_n_max=2, cache_ram_mib=1024, checkpoints=4, mmproj_offload=False,
)  # fmt: skip


@pytest.mark.parametrize("build", BUILDS)
def test_no_build_finds_a_fault(build):
    able = abilities(TABLE, build)
    options = PLANNED if able.mtp else Options(**{**vars(PLANNED), "spec_types": (), "draft_n_max": None})
    words = fresh("m.gguf", words_of(changes_of(options, Options(), build), TABLE, build))
    found = options_of_words(words, build)
    assert (found.ctx, found.parallel, found.ngl, found.flash) == (65536, 2, 999, "on")
    assert (found.type_k, found.type_v) == ("q8_0", "q8_0")
    assert found.cpu_moe == (12 if able.experts_on_host else None)
    assert found.cache_ram_mib == (1024 if able.prompt_cache else None)
    assert found.spec_types == (("draft-mtp",) if able.mtp else ())


def test_abilities_follow_the_build():
    assert not abilities(TABLE, 2700).flash and abilities(TABLE, 2700).kv_types == ("f16",)
    assert abilities(TABLE, 2771).kv_types == ("f16", "q8_0", "q4_0")
    assert not abilities(TABLE, 6088).experts_on_host and abilities(TABLE, 6089).experts_on_host
    assert not abilities(TABLE, 9179).mtp and abilities(TABLE, 9180).mtp


def test_flash_attention_is_a_switch_before_b6325():
    def flash(build):
        words = words_of(changes_of(Options(flash="on"), Options(), build), TABLE, build)
        return words[words.index("--flash-attn") :][:2]

    assert flash(6324) == ("--flash-attn",)
    assert flash(6325) == ("--flash-attn", "on")
