"""Name, version and address of the project. The metadata of the package and all links to the documentation use them."""

PRODUCT_TOKEN = "motherlode"
"""The name by which robots.txt files and robots meta elements address this crawler (RFC 9309, section 2.2.1)."""
VERSION = "0.1.0"
ADDRESS = "https://motherlode.example"
"""Where the project is found on the web. It has no public address yet: this is the only place that names one."""
