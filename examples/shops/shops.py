"""Turn the sitemaps of shops into a table of their places: python shops.py SITEMAP... > shops.csv"""

import csv
import sys

import motherlode as ml

COLUMNS = {"name": "name", "street": "address/streetAddress", "city": "address/addressLocality"}
COLUMNS |= {"postcode": "address/postalCode", "country": "address/addressCountry", "phone": "telephone"}
COLUMNS |= {"latitude": "geo/latitude", "longitude": "geo/longitude", "hours": "openingHours"}


def path(names: str) -> str:
    """Return a property path of schema.org, whose names are in use with http and with https."""
    return "/".join(f"(<http://schema.org/{name}>|<https://schema.org/{name}>)" for name in names.split("/"))


PARTS = " ".join(f"OPTIONAL {{ ?shop {path(names)} ?{column} }}" for column, names in COLUMNS.items())
QUERY = f"SELECT DISTINCT ?page ?{' ?'.join(COLUMNS)} {{ GRAPH ?page {{ ?shop {path('address')} [] . {PARTS} }} }}"
TARGET = f"ASK {{ ?shop {path('address/streetAddress')} ?street }}"

with ml.crawl(sys.argv[1:], output="shops", scope="host", pages=10_000, target=TARGET, progress=False) as crawl:
    for visit in crawl:
        print(visit.url, visit.failure.value if visit.failure else visit.quads, file=sys.stderr)

table = csv.DictWriter(sys.stdout, ["page", *COLUMNS])
table.writeheader()
table.writerows(ml.open("shops").query(f"{QUERY} ORDER BY ?page ?name"))
