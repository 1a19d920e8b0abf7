"""The browser of the tests of pages."""

from report.conftest import chromium

__all__ = ["chromium"]
