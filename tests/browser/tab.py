"""One page in the browser as its reader meets it: keys, pointer, width, paper."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from browser.devtools import DevTools, Refused

__all__ = ["Tab", "opened"]

# Key: its code on a keyboard, its number, and the text that it types.
_KEYS: dict[str, tuple[str, int, str]] = {
    "Tab": ("Tab", 9, ""),
    "Enter": ("Enter", 13, "\r"),
    "Escape": ("Escape", 27, ""),
    " ": ("Space", 32, " "),
    "End": ("End", 35, ""),
    "Home": ("Home", 36, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
}
_SHIFT = 8

# Resolves when a frame has been drawn: what a page does on its own sizes comes before a drawing,
# and after its load.
_DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"
# Resolves when the condition holds, looked at before every frame.
_UNTIL = """new Promise((done) => {{
  const look = () => (({0}) ? done(true) : requestAnimationFrame(look));
  look();
}})"""


class Tab:
    """A tab with one page. What goes wrong in it is kept: see ``complaints`` and ``requests``."""

    def __init__(self, tools: DevTools, session: str) -> None:
        self._tools = tools
        self.session = session
        self._scripted = True

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self._tools.call(method, self.session, **params)

    def open(self, path: Path) -> None:
        """Loads a file, and returns once it and all it asks for are there, laid out and drawn."""
        loads = len(self._tools.events(self.session, "Page.loadEventFired"))
        self.call("Page.navigate", url=path.as_uri())
        self._tools.wait(self.session, "Page.loadEventFired", after=loads)
        if self._scripted:
            self.read(_DRAWN)

    def read(self, expression: str) -> Any:
        """The value of an expression in the page, once it is settled; only what JSON can hold."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            thrown = answer["exceptionDetails"].get("exception", {})
            raise Refused(str(thrown.get("description", answer["exceptionDetails"])))
        return answer["result"].get("value")

    def until(self, condition: str) -> None:
        """Returns when the expression holds in the page, also one that is only now loaded."""
        for _ in range(50):
            try:
                self.read(_UNTIL.format(condition))
            except Refused as refused:
                if "navigated" not in str(refused):
                    raise
            else:
                return
        raise Refused(f"the page never settled: {condition}")

    def press(self, key: str, *, shift: bool = False) -> None:
        """One key, down and up, with what the browser itself does on it."""
        code, number, text = _KEYS[key]
        pressed: dict[str, Any] = {
            "key": key,
            "code": code,
            "windowsVirtualKeyCode": number,
            "modifiers": _SHIFT if shift else 0,
        }
        kind = "keyDown" if text else "rawKeyDown"
        self.call("Input.dispatchKeyEvent", type=kind, text=text, **pressed)
        self.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def type(self, text: str) -> None:
        """Text into what has the focus, all at once."""
        self.call("Input.insertText", text=text)

    def point_at(self, selector: str) -> tuple[float, float]:
        """Moves the pointer onto the first element that fits, scrolled to; where that is."""
        x, y = self.read(
            f"""(() => {{ const found = document.querySelector({selector!r});
                found.scrollIntoView({{block: "center", inline: "center"}});
                const box = found.getClientRects()[0];  // of a broken line, the first part
                return [box.x + box.width / 2, box.y + box.height / 2]; }})()"""
        )
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        return x, y

    def click(self, selector: str) -> None:
        """A press of the pointer's button on the first element that fits."""
        x, y = self.point_at(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def resize(self, width: int, height: int = 800, *, zoom: float = 1.0) -> None:
        """A window of so many pixels of the screen, zoomed as a reader zooms a page."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=round(width / zoom),
            height=round(height / zoom),
            deviceScaleFactor=zoom,
            mobile=False,
        )

    def show_as(self, media: str) -> None:
        """As on the "screen", or in "print"."""
        self.call("Emulation.setEmulatedMedia", media=media)

    def without_scripts(self) -> None:
        """What is opened from now on runs no script of its own; ``read`` still does."""
        self.call("Emulation.setScriptExecutionDisabled", value=True)
        self._scripted = False

    def pdf(self) -> bytes:
        """The page as its reader would print it, on the paper that it asks for."""
        printed = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)
        return base64.b64decode(printed["data"])

    def picture(self) -> bytes:
        """What the window shows, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    @property
    def complaints(self) -> list[str]:
        """What the page threw, logged, or was refused by its own policy."""
        self.read("0")  # whatever was on its way has come before the answer
        logged = self._tools.events(self.session, "Log.entryAdded")
        thrown = self._tools.events(self.session, "Runtime.exceptionThrown")
        told = self._tools.events(self.session, "Runtime.consoleAPICalled")
        return [str(each) for each in (*logged, *thrown, *told)]

    @property
    def requests(self) -> list[str]:
        """The address of each thing that was asked for, the pages themselves among them."""
        self.read("0")
        asked = self._tools.events(self.session, "Network.requestWillBeSent")
        return [each["request"]["url"] for each in asked]

    def forget(self) -> None:
        """Takes complaints and requests so far as seen."""
        self._tools.forget(self.session)


@contextlib.contextmanager
def opened(tools: DevTools) -> Iterator[Tab]:
    """A new tab that believes it has the focus, closed with the block."""
    target = tools.call("Target.createTarget", url="about:blank")["targetId"]
    session = tools.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    tab = Tab(tools, session)
    for domain in ("Page", "Runtime", "Log", "Network"):
        tab.call(f"{domain}.enable")
    tab.call("Emulation.setFocusEmulationEnabled", enabled=True)
    tab.resize(1280)
    yield tab
    tools.call("Target.closeTarget", targetId=target)
    tools.forget(session)
