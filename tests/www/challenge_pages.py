"""Challenge and block pages, made from the documented markers of the products, and articles that quote them."""

from __future__ import annotations

from motherlode.model import ChallengeProduct as Product

HTML = {"content-type": "text/html; charset=utf-8"}
JSON = {"content-type": "application/json"}

_CLOUDFLARE = b"""<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title>
<meta name="robots" content="noindex,nofollow"><meta http-equiv="refresh" content="360"></head><body>
<div class="main-wrapper" role="main"><noscript><span
id="challenge-error-text">Enable JavaScript and cookies to continue</span></noscript></div>
<script>(function(){window._cf_chl_opt = {cvId: '3',cZone: 'shop.example',cType: 'managed',
cRay: '8f2a'};var a = document.createElement('script');
a.src = '/cdn-cgi/challenge-platform/h/g/orchestrate/chl_page/v1?ray=8f2a';}());</script></body></html>"""
_CLOUDFLARE_BLOCK = b"""<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head><body>
<div id="cf-wrapper"><div id="cf-error-details" class="cf-error-details-wrapper"><h1>Sorry, you have been blocked</h1>
<h2>You are unable to access shop.example</h2></div></div></body></html>"""
_AKAMAI_DENIAL = b"""<HTML><HEAD>
<TITLE>Access Denied</TITLE>
</HEAD><BODY>
<H1>Access Denied</H1>
You don't have permission to access "http&#58;&#47;&#47;shop&#46;example&#47;" on this server.<P>
Reference&#32;&#35;18&#46;c6a50517&#46;1514639126&#46;176b29a
<P>https&#58;&#47;&#47;errors&#46;edgesuite&#46;net&#47;18&#46;c6a50517&#46;1514639126&#46;176b29a</P>
</BODY>
</HTML>"""
_AKAMAI_REFRESH = b"""<!DOCTYPE html><html><head>
<meta http-equiv="refresh" content="5; URL='/shoes?bm-verify=AAQAAAAN_____token'" /><title>&nbsp;</title></head>
<body><script>function triggerInterstitialChallenge() {}</script></body></html>"""
_AKAMAI_CHALLENGE = b"""<!DOCTYPE html><html><head><title>Challenge Validation</title></head><body>
<div id="sec-if-cpt-container"></div><p>Powered and protected by Akamai</p></body></html>"""
_DATADOME = b"""<html lang="en"><head><title>shop.example</title></head><body style="margin:0">
<p id="cmsg">Please enable JS and disable any ad blocker</p>
<script data-cfasync="false">
var dd={'rt':'c','cid':'AHrl','hsh':'2B20','t':'fe','host':'geo.captcha-delivery.com'}</script>
<script data-cfasync="false" src="https://ct.captcha-delivery.com/c.js"></script></body></html>"""
_PERIMETERX = b"""<!DOCTYPE html><html lang="en"><head><title>Access to this page has been denied</title></head><body>
<div id="px-captcha"></div><script>
/* PerimeterX assignments */
window._pxVid = ''; window._pxUuid = '013b4cad-ece3'; window._pxAppId = 'PXu6b0qd2S';
window._pxHostUrl = '/u6b0qd2S/xhr';
</script></body></html>"""
_ANUBIS = b"""<!doctype html><html lang="en"><head><title>Making sure you&#39;re not a bot!</title>
<link rel="stylesheet" href="/.within.website/x/xess/xess.min.css">
<script id="anubis_version" type="application/json">"v1.21.3"</script>
<script id="anubis_challenge" type="application/json">{"rules":{"algorithm":"fast","difficulty":4}}</script></head>
<body id="top"><main><h1 id="title">Making sure you&#39;re not a bot!</h1><p id="status">Loading...</p>
<script async type="module" src="/.within.website/x/cmd/anubis/static/js/main.mjs"></script></main></body></html>"""
_ANUBIS_DENIAL = b"""<!doctype html><html><head><title>Oh noes!</title>
<script id="anubis_version" type="application/json">"v1.21.3"</script></head><body><main>
<img alt="Sad Anubis" src="/.within.website/x/cmd/anubis/static/img/reject.webp"><p>Access Denied: error code 7.</p>
</main></body></html>"""
_OTHER = b"""<html><head><title>Robot Check</title></head><body><h4>Type the characters you see in this image:</h4>
<form method="get" action="/errors/validateCaptcha"><input name="field-keywords"></form></body></html>"""
_OTHER_WAIT = b"""<html><head><title>Checking your browser before accessing shop.example</title></head><body>
<noscript><h1>Please turn JavaScript on: enable JavaScript and reload the page.</h1></noscript></body></html>"""

CHALLENGES: dict[str, tuple[Product, int, dict[str, str], bytes]] = {
    "cloudflare-header": (Product.CLOUDFLARE, 429, {**HTML, "cf-mitigated": "challenge"}, b"<title>Wait</title>"),
    "cloudflare-managed": (Product.CLOUDFLARE, 403, HTML, _CLOUDFLARE),
    "cloudflare-200": (Product.CLOUDFLARE, 200, HTML, _CLOUDFLARE),
    "cloudflare-404": (Product.CLOUDFLARE, 404, HTML, _CLOUDFLARE),
    "cloudflare-block": (Product.CLOUDFLARE, 403, HTML, _CLOUDFLARE_BLOCK),
    "akamai-denial": (Product.AKAMAI, 403, {"content-type": "text/html", "server": "AkamaiGHost"}, _AKAMAI_DENIAL),
    "akamai-refresh": (Product.AKAMAI, 200, HTML, _AKAMAI_REFRESH),
    "akamai-challenge": (Product.AKAMAI, 428, HTML, _AKAMAI_CHALLENGE),
    "datadome-page": (Product.DATADOME, 403, HTML, _DATADOME),
    "datadome-header": (Product.DATADOME, 403, {"x-datadome": "protected", "x-dd-b": "1"}, b""),
    "datadome-json": (Product.DATADOME, 403, JSON, b'{"url":"https://geo.captcha-delivery.com/captcha/?cid=x"}'),
    "perimeterx-page": (Product.PERIMETERX, 403, HTML, _PERIMETERX),
    "perimeterx-json": (
        *(Product.PERIMETERX, 403, JSON),
        b'{"appId":"PXaOtQIWNf","blockScript":"/aOtQIWNf/captcha/captcha.js?a=c"}',
    ),
    "anubis-page": (Product.ANUBIS, 200, HTML, _ANUBIS),
    "anubis-denial": (Product.ANUBIS, 200, HTML, _ANUBIS_DENIAL),
    "aws-waf": (Product.AWS_WAF, 202, {**HTML, "x-amzn-waf-action": "challenge"}, b""),
    "vercel": (Product.VERCEL, 429, {**HTML, "x-vercel-mitigated": "challenge"}, b""),
    "generic-captcha": (Product.GENERIC, 200, HTML, _OTHER),
    "generic-wait": (Product.GENERIC, 503, HTML, _OTHER_WAIT),
}
"""Name → product, status, headers, body."""


def _escape(markup: bytes) -> bytes:
    return markup.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")


def _article(title: bytes, content: bytes) -> bytes:
    return b"<!DOCTYPE html><html><head><title>%s</title></head><body><article>%s</article></body></html>" % (
        title,
        content,
    )


_BODIES = {name: body for name, (_, _, _, body) in CHALLENGES.items() if body.startswith(b"<") and len(body) > 100}
ARTICLES: dict[str, bytes] = {
    **{
        f"{name}-code-block": _article(b"How it works", b"<pre>%s</pre>" % _escape(body))
        for name, body in _BODIES.items()
    },
    **{
        f"{name}-unescaped": _article(
            b"How it works", b"<pre>%s</pre>" % body.partition(b"<body")[2].partition(b">")[2]
        )
        for name, body in _BODIES.items()
    },
    **{f"{name}-textarea": _article(b"Test form", b"<textarea>%s</textarea>" % body) for name, body in _BODIES.items()},
    **{
        f"{name}-comment": _article(b"Home", b"<!-- %s -->" % body.replace(b"--", b""))
        for name, body in _BODIES.items()
    },
    "prose": _article(
        b"Just a moment... What challenge pages are",
        b"<p>Cloudflare sets cf-mitigated: challenge and window._cf_chl_opt = {}, DataDome loads "
        b"ct.captcha-delivery.com, HUMAN has #px-captcha and window._pxUuid = '', Anubis a script anubis_challenge, "
        b"and Akamai answers Access Denied with Reference #18.c6a50517.1514639126.176b29a, "
        b"sec-if-cpt-container or bm-verify=.</p>" + b"<p>More text.</p>" * 80,
    ),
    "json-ld": _article(
        b"Just a moment",
        b'<script type="application/ld+json">{"@type":"Article","articleBody":"(function(){window._cf_chl_opt = {}; '
        b"window._pxUuid = 'x'\"}</script><p>Text.</p>",
    ),
    "application-state": _article(
        b"Blog", b'<div id="app"></div><script>window.state={"text":"(function(){window._cf_chl_opt={cvId:1}"}</script>'
    ),
    "quoted-error": _article(
        b"Access Denied errors and how to read them",
        b"<p>You don't have permission to access this server. Reference #18.c6a50517.1514639126.176b29a</p>",
    ),
}
"""Name → a page that quotes a signature and is no challenge."""

HARMLESS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "plain-403": (
        403,
        HTML,
        b"<html><head><title>403 Forbidden</title></head><body><h1>403 Forbidden</h1>nginx</body></html>",
    ),
    "plain-429": (429, HTML, b"<html><head><title>429 Too Many Requests</title></head><body>Slow down.</body></html>"),
    "plain-503": (
        503,
        HTML,
        b"<html><head><title>503 Service Unavailable</title></head><body>Try later.</body></html>",
    ),
    "apache-403": (
        *(403, HTML),
        b"<title>403 Forbidden</title><body>You don't have permission to access this resource.</body>",
    ),
    "access-denied-403": (
        403,
        HTML,
        b"<title>Access denied | Site</title><p>You are not authorized to access this page.</p>",
    ),
    "behind-cloudflare-403": (403, {**HTML, "server": "cloudflare", "cf-ray": "8f2a"}, b"<h1>Forbidden</h1>"),
    "cloudflare-522": (
        *(522, HTML),
        b'<title>shop.example | 522: Connection timed out</title><div id="cf-error-details">Error 522</div>',
    ),
    "cloudflare-rate-limit": (
        *(429, HTML),
        b'<title>Rate limited | Cloudflare</title><body><div id="cf-error-details">Error 1015</div></body>',
    ),
    "protected-by-datadome": (200, {**HTML, "x-datadome": "protected"}, b"<title>Shop</title><p>Shoes</p>"),
    "cloudflare-detection-script": (
        *(200, HTML),
        b'<title>Shop</title><body>Shoes<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script></body>',
    ),
    "perimeterx-sensor": (
        *(200, HTML),
        b"<title>Shop</title><body>Shoes<script>window._pxAppId = 'PX1';</script><div id='px-captcha'></div>",
    ),
    "contact-form": (
        *(200, HTML),
        b'<title>Contact</title><form><div class="g-recaptcha"></div></form><div class="cf-turnstile"></div>',
    ),
    "error-with-json": (403, JSON, b'{"url":"https://shop.example/","error":"forbidden"}'),
    "turtle": (200, {"content-type": "text/turtle"}, _CLOUDFLARE),
    "empty": (403, HTML, b""),
}
"""Name → status, headers and body of a response that is no challenge."""
