"""A notebook that crawls, run by the tests in a real kernel: `notebook.py WARC` prints the outputs as JSON lines."""

import json
import sys

CELLS = [
    """import asyncio
import motherlode as ml
asyncio.get_running_loop()
with ml.crawl(["http://shop.example/"], output="out", web={warc!r}, pages=20) as crawl:
    count = sum(1 for _ in crawl)
count""",
    """async with ml.crawl(["http://shop.example/"], web={warc!r}, pages=10) as crawl:
    urls = [visit.url async for visit in crawl]
len(urls)""",
    """ml.open("out").query("SELECT ?name {{ ?s schema:name ?name }} ORDER BY ?name LIMIT 1")""",
    """@ml.policy("short-first")
class ShortFirst:
    def score(self, link, parent):
        return -len(link.url)
ml.simulate({warc!r}, policies=["bfs", "short-first"], pages=10)[1]["fetched"]""",
]


def main():
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(cell.format(warc=sys.argv[1])) for cell in CELLS]
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    for cell in notebook.cells:
        print(json.dumps([output.get("data", output) for output in cell.outputs]))


if __name__ == "__main__":
    main()
