"""What a person does with the explainer page in a browser, and sees of it."""

from __future__ import annotations

import time
from base64 import b64decode
from collections.abc import Callable
from typing import Any

import av
import numpy as np
from report.clips import J, make_page

T = len(make_page().attempts[0].frames)


class Screen:
    """One open page."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def __call__(self, script: str, *values: Any) -> Any:
        return self.driver.execute_script(script, *values)

    def element(self, name: str) -> Any:
        return self.driver.find_element("id", name)

    def text(self, name: str) -> str:
        return self("return document.getElementById(arguments[0]).textContent", name)

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def until(self, condition: Callable[[], Any], what: str) -> None:
        end = time.monotonic() + 10
        while not condition():
            assert time.monotonic() < end, f"waited 10 s for {what}"
            time.sleep(0.01)

    def frame(self, canvas: str) -> int:
        return int(self("return document.getElementById(arguments[0]).dataset.frame", canvas) or -1)

    def data(self, canvas: str, name: str) -> int:
        return int(self("return document.getElementById(arguments[0]).dataset[arguments[1]]", canvas, name))

    def pixels(self, canvas: str) -> np.ndarray:
        url = self("return document.getElementById(arguments[0]).toDataURL('image/png')", canvas)
        [picture] = av.CodecContext.create("png", "r").decode(av.Packet(b64decode(url.split(",")[1])))
        return picture.to_ndarray(format="rgb24").astype(int)

    def slide(self, t: int) -> None:
        self(
            "const s = document.getElementById('time'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('input', { bubbles: true }))",
            t,
        )
        self.until(lambda: self.frame("learner-frame") == t, f"learner frame {t}")

    def choose(self, name: str, text: str) -> None:
        from selenium.webdriver.support.select import Select

        Select(self.element(name)).select_by_visible_text(text)

    def point(self, name: str, t: int, j: int, click: bool = False) -> None:
        """Move the mouse to a cell of a heatmap, by the margins that the heatmap is drawn with."""
        from selenium.webdriver import ActionChains

        self("document.getElementById(arguments[0]).scrollIntoView({ block: 'center' })", name)
        box = self("return document.getElementById(arguments[0]).getBoundingClientRect().toJSON()", name)
        across = 50 + (box["width"] - 62) * (j + 0.5) / J - box["width"] / 2
        down = 6 + (box["height"] - 42) * (t + 0.5) / T - box["height"] / 2
        chain = ActionChains(self.driver, duration=0)
        chain.move_to_element_with_offset(self.element(name), round(across), round(down))
        (chain.click() if click else chain).perform()

    def size(self, width: int, height: int, touch: bool = False) -> None:
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": touch},
        )
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": touch})

    def prefer(self, scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def errors(self) -> list[Any]:
        return self.driver.get_log("browser")
