import subprocess
import sys

from scrapy.settings import Settings

from motherlode.integrations.scrapy import LearningMiddleware, MotherlodeAddon, StructuredDataMiddleware
from motherlode.integrations.scrapy.addon import MotherlodeSettings


def test_addon_enables_scheduler_and_learning() -> None:
    settings = Settings()
    MotherlodeAddon().update_settings(settings)
    assert settings["SCHEDULER"] == "motherlode.integrations.scrapy.MotherlodeScheduler"
    assert dict(settings["SPIDER_MIDDLEWARES"]) == {LearningMiddleware: 10}


def test_addon_enables_items_on_demand() -> None:
    settings = Settings({"MOTHERLODE_ITEMS": True})
    MotherlodeAddon().update_settings(settings)
    assert dict(settings["SPIDER_MIDDLEWARES"]) == {LearningMiddleware: 10, StructuredDataMiddleware: 900}


def test_addon_keeps_order_that_the_project_sets() -> None:
    settings = Settings({"SPIDER_MIDDLEWARES": {LearningMiddleware: 40}})
    MotherlodeAddon().update_settings(settings)
    assert dict(settings["SPIDER_MIDDLEWARES"]) == {LearningMiddleware: 40}


def test_settings_have_defaults_of_a_crawl() -> None:
    found = MotherlodeSettings.read(Settings())
    assert (found.policy, found.target, found.page_target, found.reward) == ("motherlode", "any", "any", "target")
    assert MotherlodeSettings.read(Settings({"MOTHERLODE_TARGET": "items"})).page_target == "any"


def test_import_without_scrapy_names_the_extra() -> None:
    code = "import sys; sys.modules['scrapy'] = None; import motherlode.integrations.scrapy"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "needs Scrapy: pip install 'motherlode[scrapy]'" in done.stderr.splitlines()[-1]


def test_selector_does_not_import_scrapy() -> None:
    code = "import sys, motherlode.integrations.selector; sys.exit('scrapy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
