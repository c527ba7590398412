"""Swagger UI, as a reader sees it."""

import pytest

from support.browser import open_browser, open_page

pytestmark = pytest.mark.slow

# Pixels of a panel, with some room. They were 7,287, 4,368 and 5,762 with a response for each error.
MOST = {"memories-store": 2_600, "recall-search": 1_800, "recall-search_by_get": 2_900}


def test_the_first_groups_are_open_and_a_panel_is_a_few_screens_high(service: str) -> None:
    with open_browser() as browser, open_page(browser, service) as page:
        page.set_viewport_size({"width": 1440, "height": 900})
        page.goto("/docs")
        page.wait_for_selector("#operations-messages-capture")
        assert page.locator("#operations-reviews-list_reviews").count() == 0
        for operation, most in MOST.items():
            panel = page.locator(f"#operations-{operation}")
            panel.locator(".opblock-summary-control").click()
            panel.locator(".responses-wrapper .highlight-code").first.wait_for()
            box = panel.bounding_box()
            assert box
            assert 500 < box["height"] < most
            assert not panel.locator("input:visible").count()
            panel.get_by_text("Try it out").click()
            assert panel.locator("input:visible").count()
