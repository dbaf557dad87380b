"""The server collector over recorded answers: no server runs here, tests/real/test_server.py asks real ones."""

import json
from pathlib import Path

import pytest

from doctor.facts.record import Unknown, from_json, to_json
from doctor.facts.server.record import Server, collect
from doctor.outside import HttpReply, Outside, OutsideError
from doctor.secrets import Vault

TRANSCRIPTS = Path(__file__).resolve().parents[2] / "fixtures" / "server"
URL = "http://127.0.0.1:8080"
KEY = "sk-local-test"
JSON = {"content-type": "application/json"}


class Recorded(Outside):
    """A world with one server in it that answers from a list and remembers what it was asked."""

    def __init__(self, answers, prefix="", key=KEY):
        super().__init__({}, "linux")
        self.answers = answers
        self.prefix = prefix
        self.key = key
        self.asked = []
        self.clock = 0.0

    @classmethod
    def from_file(cls, name):
        transcript = json.loads((TRANSCRIPTS / f"{name}.json").read_text(encoding="utf-8"))
        answers = {(entry["path"], entry["with_key"]): entry for entry in transcript["answers"]}
        return cls(answers, transcript["prefix"], transcript["key"])

    def monotonic(self):
        return self.clock

    def http(self, method, url, *, headers=None, body=None, timeout=3.0, limit=0):
        assert method == "GET"
        path = url.removeprefix(URL).removeprefix(self.prefix)
        with_key = (headers or {}).get("Authorization") == f"Bearer {self.key}"
        self.asked.append((path, "Authorization" in (headers or {})))
        found = self.answers.get((path, with_key), self.answers.get(path))
        if isinstance(found, Exception):
            self.clock += timeout if getattr(found, "kind", "") == "timeout" else 0
            raise found
        if found is None:
            found = {"status": 404, "headers": {}, "body": "404 page not found"}
        data = found["body"] if isinstance(found["body"], bytes) else found["body"].encode()
        return HttpReply(found["status"], found["headers"], data[:limit], len(data) > limit, 1.25)

    def port_open(self, host, port, timeout=1.0):
        self.clock += timeout
        return self.answers.get("port", False)

    def resolve(self, host, timeout=2.0):
        return self.answers.get("addresses", ("127.0.0.1",))


def ask(world, key=None, url=URL, **more):
    vault = Vault()
    token = vault.put(key) if key else None
    server = collect(world, vault, url=url, url_source="option", key_token=token, **more)
    assert from_json(Server, json.loads(json.dumps(to_json(server)))) == server
    return server


def page(body, status=200, **headers):
    return {
        "status": status,
        "headers": {name.replace("_", "-"): value for name, value in headers.items()},
        "body": body,
    }


def as_json(data, status=200, **headers):
    return page(json.dumps(data), status, **{**JSON, **headers})


# --- llama.cpp -------------------------------------------------------------------------------------------------------


def test_a_healthy_server_tells_its_model_and_slots():
    server = ask(Recorded.from_file("new-plain"))
    assert (server.state, server.detail, server.kind, server.port_open) == ("ok", None, "llama.cpp", True)
    assert (server.key_required, server.key_accepted) == (False, None)
    assert server.model_ids == ("/models/tiny.gguf",)
    assert server.model_path == "/models/tiny.gguf"
    assert (server.n_ctx, server.slots, server.slots_busy, server.n_ctx_train) == (512, 2, 0, 4096)
    assert server.build_info == "b0-unknown"
    assert (server.vision, server.chat_template, server.strict_system_message) == (False, True, False)
    assert (server.sleeping, server.metrics) == (False, False)
    assert isinstance(server.build_number, Unknown)


def test_four_slots_that_share_one_cache_have_the_whole_context_each():
    server = ask(Recorded.from_file("b10434-plain"))
    assert (server.n_ctx, server.slots, server.metrics) == (2048, 4, True)


@pytest.mark.parametrize("name", ["new-key", "b10434-key"])
def test_the_right_key_opens_everything(name):
    server = ask(Recorded.from_file(name), KEY)
    assert (server.state, server.key_required, server.key_accepted) == ("ok", True, True)
    assert known_number(server.n_ctx) and known_number(server.slots)


def known_number(value):
    return isinstance(value, int) and value > 0


def test_without_a_key_a_new_server_says_nothing():
    server = ask(Recorded.from_file("new-key"))
    assert (server.state, server.key_required, server.key_accepted) == ("unauthorised", True, None)
    assert server.detail == "the server wants an API key and none is at hand"
    assert server.model_ids == Unknown("the server wants an API key for that")
    assert server.n_ctx == Unknown("the server wants an API key for that")


def test_without_a_key_an_older_server_still_lists_its_models():
    server = ask(Recorded.from_file("b10434-key"))
    assert (server.state, server.key_required) == ("unauthorised", True)
    assert (server.model_ids, server.n_ctx) == (("/models/tiny.gguf",), 1024)
    assert isinstance(server.slots, Unknown)


def test_a_wrong_key_is_refused():
    server = ask(Recorded.from_file("new-key"), "sk-local-test-wrong")
    assert (server.state, server.key_required, server.key_accepted) == ("unauthorised", True, False)
    assert server.detail == "the server wants an API key and refuses the key at hand"


def test_a_key_is_not_sent_where_none_is_wanted():
    world = Recorded.from_file("new-plain")
    server = ask(world, KEY)
    assert (server.key_required, server.key_accepted) == (False, True)
    assert not any(with_key for _, with_key in world.asked)


def test_a_loading_server_tells_nothing_about_the_key():
    world = Recorded.from_file("new-loading")
    server = ask(world, KEY)
    assert (server.state, server.kind, server.port_open) == ("loading", "llama.cpp", True)
    assert server.key_required == server.key_accepted == Unknown("the server is still loading the model")
    assert world.asked == [("/health", False)]


def test_the_words_of_an_old_build_while_loading():
    server = ask(Recorded({"/health": as_json({"status": "loading model"}, 503, server="llama.cpp")}))
    assert server.state == "loading"


def test_an_api_prefix_is_kept():
    server = ask(Recorded.from_file("new-prefix-key"), KEY, url=f"{URL}/llm/v1/")
    assert (server.state, server.url, server.n_ctx) == ("ok", f"{URL}/llm", 512)


def test_one_prefix_too_many_is_found_out():
    world = Recorded.from_file("new-plain")
    world.answers = {
        ("/openai" + path, key): page('{"error":1}', 404, server="llama.cpp") for path, key in world.answers
    } | {("/health", False): world.answers["/health", False]}
    server = ask(world, url=f"{URL}/openai/v1")
    assert server.state == "wrong-path"
    assert server.detail == f"the server is there, but not under /openai: the URL is {URL}"


def test_a_missing_prefix_is_said():
    everywhere = page('{"error":{"message":"File Not Found"}}', 404, server="llama.cpp")
    server = ask(Recorded(dict.fromkeys(("/health", "/v1/models", "/props"), everywhere)))
    assert server.state == "wrong-path"
    assert "--api-prefix" in server.detail


def test_a_template_that_wants_the_system_message_first():
    server = ask(Recorded.from_file("new-strict"))
    assert server.strict_system_message is True
    assert server.slots_busy == Unknown("GET /slots is off (--no-slots)")
    assert server.slots == 1


@pytest.mark.parametrize(("name", "key"), [("b10434-router", None), ("b10434-router-key", KEY)])
def test_a_router_has_no_context_of_its_own(name, key):
    world = Recorded.from_file(name)
    server = ask(world, key)
    assert (server.state, server.kind) == ("ok", "llama.cpp-router")
    assert set(server.model_ids) == {"slow", "tiny"}
    assert server.n_ctx == server.slots == Unknown("a router: each model has its own")
    assert not {"/slots", "/metrics"} & {path for path, _ in world.asked}


def test_a_sleeping_server_is_not_woken_up():
    world = Recorded.from_file("b10434-sleeping")
    server = ask(world)
    assert (server.state, server.sleeping, server.n_ctx, server.slots) == ("ok", True, 2048, 4)
    assert isinstance(server.slots_busy, Unknown)
    assert not {"/slots", "/metrics"} & {path for path, _ in world.asked}


def test_busy_slots_are_counted():
    world = Recorded.from_file("new-plain")
    world.answers["/slots", False]["body"] = '[{"id":0,"is_processing":true},{"id":1,"is_processing":false}]'
    assert ask(world).slots_busy == 1


@pytest.mark.parametrize(
    ("info", "number"),
    [("b10434-7e4c0a9", 10434), ("b6143-unknown", 6143), ("b1-7e4c0a9", 10434), ("b1-0000000", None), ("dev", None)],
)
def test_the_build_number(info, number):
    world = Recorded.from_file("new-plain")
    entry = world.answers["/props", False]
    entry["body"] = entry["body"].replace("b0-unknown", info)
    got = ask(world, build_of_commit={"7e4c0a9": 10434}.get).build_number
    assert got == number if number else isinstance(got, Unknown)


def test_what_was_asked_is_kept():
    server = ask(Recorded.from_file("new-key"), KEY)
    asked = [(probe.path, probe.with_key, probe.status) for probe in server.probes]
    assert asked == [
        ("/health", False, 200),
        ("/v1/models", False, 401),
        ("/props", False, 401),
        ("/props", True, 200),
        ("/v1/models", True, 200),
        ("/slots", True, 200),
        ("/metrics", True, 200),
    ]
    assert all(len(probe.body) <= 160 and "\n" not in probe.body for probe in server.probes)
    assert KEY not in json.dumps(to_json(server))


# --- no answer -------------------------------------------------------------------------------------------------------


def failing(kind, **more):
    error = OutsideError(kind, f"{URL}/health: what went wrong")
    return Recorded({"/health": error, **more})


def test_refused():
    server = ask(failing("refused"))
    assert (server.state, server.port_open, server.kind) == ("refused", False, "unknown")
    assert server.n_ctx == Unknown("the server could not be asked (refused)")


@pytest.mark.parametrize(("port", "words"), [(True, "does not answer"), (False, "nothing accepts")])
def test_a_timeout_says_whether_anything_is_there(port, words):
    server = ask(failing("timeout", port=port))
    assert (server.state, server.port_open) == ("timeout", port)
    assert words in server.detail


def test_a_name_without_address():
    server = ask(failing("unreachable", addresses=()))
    assert (server.state, server.detail) == ("unreachable", "the name 127.0.0.1 has no address")
    assert isinstance(server.port_open, Unknown)


def test_no_route():
    server = ask(failing("unreachable"))
    assert (server.state, server.port_open) == ("unreachable", False)


def test_something_else_went_wrong():
    server = ask(failing("failed"))
    assert (server.state, server.detail) == ("error", f"{URL}/health: what went wrong")


def test_an_impossible_address_is_not_asked():
    world = Recorded({})
    server = ask(world, url="http://user:sk-local-test@127.0.0.1:99999/v1")
    assert server.state == "error"
    assert "65535" in server.detail and "sk-local-test" not in server.detail
    assert world.asked == []


def test_the_whole_is_bounded_when_every_request_hangs():
    late = OutsideError("timeout", "late")
    world = Recorded(
        {
            "/health": page("{}", server="llama.cpp"),
            "/v1/models": late,
            "/props": late,
            "/slots": late,
            "/metrics": late,
        }
    )
    server = ask(world, KEY)
    assert world.clock <= 5
    assert server.kind == "llama.cpp"
    assert isinstance(server.key_required, Unknown) and isinstance(server.n_ctx, Unknown)


# --- something else --------------------------------------------------------------------------------------------------

OLLAMA = {
    "/health": page("404 page not found", 404, content_type="text/plain"),
    "/v1/models": as_json({"object": "list", "data": [{"id": "qwen3:8b", "object": "model", "owned_by": "library"}]}),
    "/api/version": as_json({"version": "0.12.3"}),
}
LM_STUDIO = {
    "/health": as_json({"error": "Unexpected endpoint or method. (GET /health)"}, x_powered_by="Express"),
    "/v1/models": as_json({"data": [{"id": "qwen/qwen3-8b", "object": "model", "owned_by": "organization_owner"}]}),
}
VLLM = {
    "/health": page("", server="uvicorn"),
    "/v1/models": as_json({"object": "list", "data": [{"id": "Qwen/Qwen3-8B", "owned_by": "vllm"}]}, server="uvicorn"),
}
LITELLM = {
    "/health": as_json({"error": {"message": "No api key passed in.", "type": "auth_error", "code": "401"}}, 401),
    "/v1/models": as_json({"error": {"message": "No api key passed in.", "type": "auth_error", "code": "401"}}, 401),
}
LLAMA_SWAP = {
    "/health": page("OK"),
    "/v1/models": as_json({"data": [{"id": "coder", "owned_by": "llama-swap"}], "object": "list"}),
}
NEW_API = {
    "/health": page("<!doctype html><html></html>", content_type="text/html", x_oneapi_request_id="20261101"),
    "/v1/models": as_json(
        {"error": {"message": "invalid token", "type": "new_api_error"}}, 401, x_oneapi_request_id="1"
    ),
}


@pytest.mark.parametrize(
    ("answers", "kind", "state", "ids"),
    [
        (OLLAMA, "ollama", "not-llama.cpp", ("qwen3:8b",)),
        ({"/api/version": OLLAMA["/api/version"]}, "ollama", "not-llama.cpp", None),
        (LM_STUDIO, "lm-studio", "not-llama.cpp", ("qwen/qwen3-8b",)),
        (VLLM, "vllm", "not-llama.cpp", ("Qwen/Qwen3-8B",)),
        (LITELLM, "litellm", "unauthorised", None),
        (LLAMA_SWAP, "llama-swap", "not-llama.cpp", ("coder",)),
        (NEW_API, "gateway", "unauthorised", None),
    ],
)
def test_other_servers_are_named_and_never_see_the_key(answers, kind, state, ids):
    world = Recorded(answers)
    server = ask(world, KEY)
    assert (server.kind, server.state, server.port_open) == (kind, state, True)
    assert server.model_ids == ids if ids else isinstance(server.model_ids, Unknown)
    assert not any(with_key for _, with_key in world.asked)
    assert isinstance(server.key_accepted, Unknown)


def test_llama_cpp_behind_a_reverse_proxy_is_llama_cpp():
    world = Recorded.from_file("new-plain")
    for entry in world.answers.values():
        entry["headers"]["server"] = "nginx/1.27"
    assert ask(world).kind == "llama.cpp"


def test_a_proxy_whose_upstream_is_down():
    down = page("<html>502 Bad Gateway</html>", 502, server="nginx", content_type="text/html")
    server = ask(Recorded(dict.fromkeys(("/health", "/v1/models", "/props", "/api/version"), down)))
    assert (server.state, server.kind) == ("error", "gateway")
    assert server.detail == "what answers is gateway, not llama.cpp (HTTP 502 to /health, with a web page)"


def test_a_web_page():
    site = page("<!DOCTYPE html><title>Router</title>", content_type="text/html")
    server = ask(Recorded(dict.fromkeys(("/health", "/v1/models", "/props", "/api/version"), site)))
    assert (server.state, server.kind) == ("html", "unknown")


def test_a_redirect_is_told_and_not_followed():
    away = page("", 302, location="https://login.example.org/")
    server = ask(Recorded(dict.fromkeys(("/health", "/v1/models"), away)))
    assert server.state == "not-llama.cpp"
    assert "redirects to https://login.example.org/" in server.detail


# --- broken and hostile answers --------------------------------------------------------------------------------------

LLAMA = {"server": "llama.cpp"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"9" * 6000,
        b'{"default_generation_settings": 3, "total_slots": "x", "modalities": [], "chat_template": {}}',
        b'{"default_generation_settings": {"n_ctx": 1e99}, "total_slots": -1, "model_path": 5}',
        b'{"data": [1, null, {"id": 5, "aliases": "x", "meta": []}], "models": [{"capabilities": 1}]}',
        b'{"data": {"id": 1}, "models": 7}',
        b'[1, {"n_ctx": true, "is_processing": "yes"}]',
        b'{"build_info": "b99999999999999999999-x"}',
    ],
)
def test_broken_answers_survive(body):
    answer = {"status": 200, "headers": dict(LLAMA), "body": body}
    server = ask(Recorded(dict.fromkeys(("/health", "/v1/models", "/props", "/slots", "/metrics"), answer)), KEY)
    assert (server.state, server.kind) == ("ok" if body.startswith(b'{"') else "error", "llama.cpp")
    assert not isinstance(server.n_ctx, int)


@pytest.mark.parametrize("status", [204, 302, 304, 500, 999])
def test_a_server_that_answers_nothing_readable_is_not_fine(status):
    answer = {"status": status, "headers": {**LLAMA, "location": "http://127.0.0.1:1/"}, "body": b""}
    server = ask(Recorded(dict.fromkeys(("/health", "/v1/models", "/props"), answer)))
    assert server.state == "error" and f"/props: HTTP {status}" in server.detail


@pytest.mark.parametrize("status", [307, 500, 502])
def test_a_key_that_got_no_plain_answer_is_not_accepted(status):
    world = Recorded.from_file("new-key")
    answer = {"status": status, "headers": {**LLAMA, "location": "http://127.0.0.1:1/"}, "body": b""}
    world.answers["/props", True] = world.answers["/v1/models", True] = answer
    server = ask(world, KEY)
    assert server.state == "error" and isinstance(server.key_accepted, Unknown)


@pytest.mark.parametrize(
    ("path", "answer", "words"),
    [
        ("/slots", {"body": b"[{"}, "the answer is no JSON"),
        ("/slots", {"body": b"{}"}, "the answer is no list"),
        ("/slots", {"body": b'[{"n_ctx": 1e99}]'}, "what stands for n_ctx is no sensible number"),
        (
            "/slots",
            {"body": b"[]", "headers": {**LLAMA, "content-encoding": "br"}},
            "the answer is packed (br), though none was asked for",
        ),
        ("/slots", {"status": 999}, "HTTP 999"),
        ("/metrics", {"body": b"\xff\xfe"}, "the answer holds bytes that are no UTF-8"),
        ("/props", {"body": b'{"total_slots": "many"}'}, "what stands for total_slots is no sensible number"),
    ],
)
def test_an_answer_that_cannot_be_used_is_told(path, answer, words):
    world = Recorded.from_file("new-plain")
    assert ask(world).unreadable is None
    world.answers[path, False] = {"status": 200, "headers": dict(LLAMA), "body": b"", **answer}
    server = ask(world)
    assert (server.state, server.unreadable) == ("ok", (f"{path}: {words}",))


def test_a_flood_of_models_is_cut():
    many = as_json({"data": [{"id": f"model-{number}" + "x" * 1000} for number in range(5000)]}, server="llama.cpp")
    world = Recorded.from_file("new-plain")
    world.answers["/v1/models", False] = {**many, "body": many["body"][: 1 << 19]}
    assert isinstance(ask(world).model_ids, Unknown)
    few = as_json({"data": [{"id": f"model-{number}"} for number in range(5000)]}, server="llama.cpp")
    world.answers["/v1/models", False] = few
    assert len(ask(world).model_ids) == 200


def test_control_characters_do_not_reach_the_record():
    answer = {"status": 200, "headers": dict(LLAMA), "body": b"\x1b[31mred\x1b[0m\x00\x07 text"}
    server = ask(Recorded({"/health": answer}))
    assert server.probes[0].body == "red text"
