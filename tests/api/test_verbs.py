"""The notebook's interface looks functions up, and does nothing else."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

from proofstone import api
from proofstone.session.session import Session


def test_every_method_of_a_workspace_is_a_function_of_a_session() -> None:
    verbs = {name: one for name, one in vars(api.Workspace).items() if isinstance(one, api.Verb)}
    own = {name for name in vars(api.Workspace) if not name.startswith("__")}
    assert own == set(verbs)
    assert len(verbs) > 50
    for name, verb in verbs.items():
        function = verb.find()
        assert next(iter(inspect.signature(function).parameters)) == "session", name
        assert inspect.getdoc(function), name
        assert getattr(api.Workspace, name) is function
        assert not hasattr(Session, name), f"{name} hides a part of the session"


def test_what_is_imported_late_is_what_types_are_read_from() -> None:
    tree = ast.parse(inspect.getsource(api))
    typed, late = {}, {}
    for node in tree.body:
        if isinstance(node, ast.If):
            for line in node.body:
                if isinstance(line, ast.ImportFrom):
                    typed |= {
                        each.asname or each.name: f"{line.module}.{each.name}"
                        for each in line.names
                    }
                elif isinstance(line, ast.Assign) and isinstance(line.value, ast.Call):
                    (name,), (module,) = line.targets, line.value.args
                    late[ast.unparse(name)] = f"proofstone.{ast.literal_eval(module)}"
    assert typed == late


def test_the_interface_itself_loads_no_capability() -> None:
    code = (
        "import sys, proofstone.api\n"
        "print([m for m in sys.modules if m.startswith(('proofstone.run.', 'proofstone.results',"
        " 'proofstone.build', 'proofstone.methods', 'numpy'))])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
