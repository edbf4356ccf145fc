"""Name, version and address of the project. The metadata of the package and all links to the documentation use them."""

VERSION = "0.1.0"
ADDRESS = "https://motherlode.example"
"""Where the project is found on the web. It has no public address yet: this is the only place that names one."""
