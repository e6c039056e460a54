"""Chromium without a window, driven over a pipe by the DevTools protocol. Needs nothing but Python.

    with Chromium() as browser:
        page = browser.open("file:///tmp/report.html")
        page.value("document.title")
        page.click("#curves-view button"), page.key("ArrowRight"), page.screenshot("a.png")
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

TIMEOUT_S = 60.0


def program():
    """The browser's path, or None."""
    for name in (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"):
        if name and shutil.which(name):
            return shutil.which(name)
    return None


class Chromium:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="cubewarp-chromium-")
        to_child, self.write_fd = os.pipe()
        self.read_fd, from_child = os.pipe()

        # The browser reads descriptor 3 and writes descriptor 4. They go by way of high numbers, so
        # that neither is overwritten before it is copied.
        def descriptors():
            os.dup2(to_child, 103)
            os.dup2(from_child, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self.process = subprocess.Popen(
            [program(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
             "--no-first-run", "--hide-scrollbars", "--disable-dev-shm-usage",
             "--user-data-dir=" + self.folder, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=descriptors)
        os.close(to_child)
        os.close(from_child)
        self.next_id = 0
        self.buffer = b""
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.write_fd)
        os.close(self.read_fd)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            more = os.read(self.read_fd, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **params):
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.write_fd, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") != self.next_id:
                self.events.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]

    def open(self, url, width=1300, height=900, scripts=True, dark=False):
        return Page(self, url, width, height, scripts, dark)


class Page:
    def __init__(self, browser, url, width, height, scripts, dark):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.resize(width, height)
        self.call("Emulation.setEmulatedMedia", media="",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        if not scripts:
            self.call("Emulation.setScriptExecutionDisabled", value=True)
        browser.events.clear()
        started = time.monotonic()
        self.call("Page.navigate", url=url)
        self.wait_event("Page.loadEventFired")
        self.load_s = time.monotonic() - started

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def wait_event(self, name):
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end:
            if any(event.get("method") == name and event.get("sessionId") == self.session for event in self.browser.events):
                return
            self.browser.events.append(self.browser.receive())
        raise RuntimeError(f"no {name} in {TIMEOUT_S} s")

    def value(self, expression):
        """The value of an expression of JavaScript; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def messages(self):
        """All errors that the page has logged, and all requests but that for the page itself."""
        self.value("0")
        errors, requests = [], []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            if event["method"] == "Runtime.exceptionThrown":
                errors.append(str(event["params"]["exceptionDetails"]))
            if event["method"] == "Runtime.consoleAPICalled" and event["params"]["type"] == "error":
                errors.append(str(event["params"]["args"]))
            if event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                errors.append(event["params"]["entry"]["text"])
            if event["method"] == "Network.requestWillBeSent":
                requests.append(event["params"]["request"]["url"])
        return errors, requests[1:]

    def place(self, selector, index=0):
        """The middle of an element, scrolled into view."""
        box = self.value(f"(async () => {{ const e = document.querySelectorAll({json.dumps(selector)})[{index}];"
                         "if (!e) return null; e.scrollIntoView({block: 'center', behavior: 'instant'});"
                         "for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);"
                         "const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()")
        if box is None:
            raise RuntimeError(f"there is no {selector} number {index}")
        return box

    def move(self, selector, index=0):
        x, y = self.place(selector, index)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector, index=0, modifiers=0):
        x, y = self.place(selector, index)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1, modifiers=modifiers)

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))

    def focus(self, selector):
        self.value(f"document.querySelector({json.dumps(selector)}).focus()")

    def choose(self, selector, value):
        self.value(f"(() => {{ const s = document.querySelector({json.dumps(selector)}); s.value = {json.dumps(str(value))};"
                   "s.dispatchEvent(new Event('change')); })()")

    def resize(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=False)

    def screenshot(self, path, whole=False):
        params = {"format": "png"}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            params["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}
            params["captureBeyondViewport"] = True
        data = self.call("Page.captureScreenshot", **params)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self, path):
        data = self.call("Page.printToPDF", printBackground=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
