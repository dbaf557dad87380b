"""What the server can do and the client wants."""

import contextlib
import dataclasses

from tests.real.conftest import free_port
from tests.real.matrix import fronts, servers
from tests.real.matrix.clients import ALL, CLAUDE
from tests.real.matrix.faults.registry import fault
from tests.real.matrix.servers import SOUND


def old_server(setup, stack, path):
    """A server of before this path was there; updating it brings a current one to the same port."""
    port, front = setup.command.port, contextlib.ExitStack()
    setup.command = dataclasses.replace(setup.command, port=free_port())
    stack.enter_context(servers.started(setup.command, setup.home / "old.log"))
    front.enter_context(fronts.front(setup.command.port, at=port, **fronts.without(path)))
    stack.callback(front.close)

    def update():
        front.close()
        stack.enter_context(fronts.front(setup.command.port, at=port))

    setup.update = update


@fault(("tools-not-enabled", "chat-template-error"), words=(*SOUND, "--no-jinja"), own=True)
def tools_off(setup, _):
    pass


@fault("chat-template-roles", ("claude-code", "codex"), own=True, model="strict")
def late_system_message_refused(setup, _):
    pass


@fault(
    "tool-parse-error",
    tuple(client for client in ALL if client != "aider"),
    words=(*SOUND, "--chat-template", "chatml"),
    own=True,
    fails=False,
)
def template_without_tools(setup, _):
    pass


@fault("wire-api-mismatch", CLAUDE, own=True)
def no_messages_api(setup, stack):
    setup.alive = None
    old_server(setup, stack, "/messages")


@fault("wire-api-mismatch", ("codex",), own=True)
def no_responses_api(setup, stack):
    setup.alive = None
    old_server(setup, stack, "/responses")
