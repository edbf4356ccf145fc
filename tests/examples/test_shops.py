import csv
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.integrations.scrapy.loopback_site import Site, page, serve

SCRIPT = Path(__file__).parents[2] / "examples" / "shops" / "shops.py"
PLACES = {"oslo": ("Karl Johans gate 1", 59.91), "bergen": ("Torget 5", 60.39)}


def test_example_turns_sitemaps_of_two_chains_into_a_table(tmp_path: Path) -> None:
    text = SCRIPT.read_text().replace('scope="host"', 'scope="host", allow=["127.0.0.0/8"], delay=0')
    with serve(jsonld_chain, "127.0.0.2") as first, serve(microdata_chain, "127.0.0.3") as second:
        sites.update({"jsonld": first, "microdata": second})
        command = [sys.executable, "-c", text, f"{first.url}/sitemap.xml", f"{second.url}/sitemap.xml"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    rows = {(row["name"], row["city"]): row for row in csv.DictReader(done.stdout.splitlines())}
    assert rows.keys() == {("Fjord Coffee", "oslo"), ("Fjord Coffee", "bergen"), ("Bike House", "Trondheim")}
    bergen = rows["Fjord Coffee", "bergen"]
    assert bergen["page"] == f"{first.url}/shops/bergen"
    assert (bergen["street"], bergen["latitude"], bergen["phone"]) == ("Torget 5", "60.39", "+47 1")
    assert rows["Bike House", "Trondheim"]["street"] == "Munkegata 3"


def test_example_is_short() -> None:
    lines = [line for line in SCRIPT.read_text().splitlines() if line.strip() and '"""' not in line]
    assert len(lines) <= 22


sites: dict[str, Site] = {}


def sitemap(site: Site, *paths: str) -> tuple[int, Mapping[str, str], str]:
    places = "".join(f"<url><loc>{site.url}{path}</loc></url>" for path in paths)
    text = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'
    return 200, {"Content-Type": "application/xml"}, text


def jsonld_chain(path: str, before: int) -> tuple[int, Mapping[str, str], str]:
    if path == "/sitemap.xml":
        return sitemap(sites["jsonld"], *(f"/shops/{city}" for city in PLACES), "/about")
    city = path.rpartition("/")[2]
    if city not in PLACES:
        return 404 if path == "/robots.txt" else 200, {}, page()
    street, latitude = PLACES[city]
    data = {
        "@context": "https://schema.org",
        "@type": "CafeOrCoffeeShop",
        "name": "Fjord Coffee",
        "telephone": "+47 1",
        "address": {"@type": "PostalAddress", "streetAddress": street, "addressLocality": city},
        "geo": {"@type": "GeoCoordinates", "latitude": latitude, "longitude": 5.3},
    }
    return 200, {}, page("/about", data=json.dumps(data))


def microdata_chain(path: str, before: int) -> tuple[int, Mapping[str, str], str]:
    if path == "/sitemap.xml":
        return sitemap(sites["microdata"], "/house")
    if path == "/robots.txt":
        return 404, {}, ""
    shop = (
        '<div itemscope itemtype="https://schema.org/BikeStore"><h1 itemprop="name">Bike House</h1>'
        '<p itemprop="address" itemscope itemtype="https://schema.org/PostalAddress">'
        '<b itemprop="streetAddress">Munkegata 3</b>, <i itemprop="addressLocality">Trondheim</i></p></div>'
    )
    return 200, {}, f"<html><body>{shop}</body></html>"
