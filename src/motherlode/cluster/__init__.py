"""The same crawl on several processes and machines, sharded by host, carried by Ray. The only room that knows Ray.

A *shard* is the crawl of one machine, unchanged, that owns the hosts which hash to it (`hashing`). Links for hosts of
others go to their owners in batches (`exchange`, `parcels`); a link is kept by its finder until its owner has made it
lasting. Shards report to a `coordinator`, which agrees on budgets (`pages`), on who may ask which IP address
(`leases`), on what has been learned, and on when it is over (`quiet`). `shard` is all of one shard but Ray; `actors`
puts both on Ray; `driver` starts them, keeps them going when processes and nodes die, and gives one stream of visits.
`checkpoints` keep a shard's state where it outlives its machine; `merge` makes one folder of all shards' at the end.

Nothing here is imported before somebody asks for more than one shard: without Ray everything else works.
"""

from motherlode.cluster.merge import merge_shards

__all__ = ["merge_shards"]
