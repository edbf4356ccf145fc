from __future__ import annotations

from random import Random

from motherlode.cluster.grants import AddressGrant, GrantBook

REST, TENURE = 1.0, 4.0


def granted(book: GrantBook, now: float) -> dict[int, list[str]]:
    return {shard: [lease.address for lease in leases] for shard, leases in book.post(now).leases.items()}


def test_the_first_gets_it_and_the_next_after_a_tenure() -> None:
    book = GrantBook(rest=REST, tenure=TENURE)
    book.want(0, ["10.0.0.1"], 0.0)
    assert granted(book, 0.0) == {0: ["10.0.0.1"]}
    book.want(1, ["10.0.0.1"], 1.0)
    assert not book.post(3.9).recalls
    assert book.post(4.0).recalls == {0: ["10.0.0.1"]}
    assert not book.post(5.0).recalls, "a recall is said once"
    book.give_back(0, [AddressGrant("10.0.0.1", 0.4, {"a.example": 2.0})], 5.5)
    assert book.post(5.5).leases == {1: [AddressGrant("10.0.0.1", 0.4, {"a.example": 2.0})]}, "the clocks go with it"


def test_a_shard_alone_is_never_asked_to_give_back() -> None:
    book = GrantBook(rest=REST, tenure=TENURE)
    book.want(0, ["10.0.0.1"], 0.0)
    assert not book.post(1000.0).recalls


def test_what_the_dead_held_is_free_after_a_full_rest() -> None:
    book = GrantBook(rest=REST, tenure=TENURE)
    book.want(0, ["10.0.0.1"], 0.0)
    book.want(1, ["10.0.0.1"], 0.0)
    book.post(0.0)
    book.gone(0, 10.0)
    assert book.post(10.0).leases == {1: [AddressGrant("10.0.0.1", REST)]}
    book.give_back(0, [AddressGrant("10.0.0.1", 0.0)], 11.0)
    assert not book.post(11.0).leases, "who does not hold it cannot hand it on"


def test_never_two_holders_and_nobody_waits_for_ever() -> None:
    random, book = Random(1), GrantBook(rest=REST, tenure=TENURE)
    addresses = [f"10.0.0.{last}" for last in range(4)]
    held: dict[str, int] = {}
    recalled: set[str] = set()
    turns = {(shard, address): 0 for shard in range(5) for address in addresses}
    now = 0.0
    for _ in range(20_000):
        now += random.random()
        shard = random.randrange(5)
        choice = random.randrange(20)
        if choice < 10:
            book.want(shard, [random.choice(addresses)], now)
        elif choice < 19:
            back = [address for address in recalled if held.get(address) == shard]
            for address in back:
                del held[address]
                recalled.remove(address)
            book.give_back(shard, [AddressGrant(address, 0.0) for address in back], now)
        else:
            mine = {address for address, holder in held.items() if holder == shard}
            held = {address: holder for address, holder in held.items() if holder != shard}
            recalled -= mine
            book.gone(shard, now)
        post = book.post(now)
        for to, leases in post.leases.items():
            for lease in leases:
                assert lease.address not in held, "one holder at a time"
                held[lease.address] = to
                turns[to, lease.address] += 1
        for addresses_back in post.recalls.values():
            recalled.update(addresses_back)
    assert min(turns.values()) > 20
