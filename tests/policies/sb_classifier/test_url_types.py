"""The URL classifier and the early stop of sb-classifier."""

from __future__ import annotations

from motherlode.policies.sb_classifier.url_types import FlatCurve, UrlType, UrlTypeClassifier

FORMS = {
    UrlType.PAGE: "http://a.example/browse/page-{}.html",
    UrlType.TARGET: "http://a.example/files/set-{}.ttl",
    UrlType.NEITHER: "http://a.example/login?return={}",
}


def trained(batch: int = 10, examples: int = 90) -> UrlTypeClassifier:
    classifier = UrlTypeClassifier(batch=batch)
    for number in range(examples):
        kind = UrlType(number % 3)
        classifier.learn(FORMS[kind].format(number * 37), kind)
    return classifier


def test_classifier_predicts_page_until_the_first_batch_is_complete() -> None:
    classifier = UrlTypeClassifier(batch=10)
    for number in range(9):
        classifier.learn(FORMS[UrlType.TARGET].format(number), UrlType.TARGET)
    assert classifier.predict([FORMS[UrlType.TARGET].format(77)]) == [UrlType.PAGE]
    classifier.learn(FORMS[UrlType.TARGET].format(9), UrlType.TARGET)
    assert classifier.predict([FORMS[UrlType.TARGET].format(77)]) == [UrlType.TARGET]


def test_classifier_tells_three_types_apart() -> None:
    classifier = trained()
    for kind, form in FORMS.items():
        assert classifier.predict([form.format(number) for number in (5, 4444, 123456)]) == [kind] * 3


def test_load_restores_predictions_and_the_open_batch() -> None:
    one, other = trained(examples=95), UrlTypeClassifier(batch=10)
    other.load(one.dump())
    for number in range(7):
        for classifier in (one, other):
            classifier.learn(f"http://b.example/{number}", UrlType.TARGET)
    assert one.dump() == other.dump()


def test_flat_curve_needs_several_low_windows_in_a_row() -> None:
    curve = FlatCurve(window=100)
    for _ in range(20):
        for number in range(100):
            curve.add(number < 2)
    assert not curve.is_flat
    for _ in range(2000):
        curve.add(False)
    assert curve.is_flat


def test_flat_curve_without_window_is_never_flat() -> None:
    curve = FlatCurve(window=0)
    for _ in range(5000):
        curve.add(False)
    assert not curve.is_flat
