"""One crawl on several processes and machines, sharded by host, on Ray. No other package imports Ray.

A *shard* is a complete crawl that owns the hosts whose hash maps to it (`partitioner`). A shard sends links to hosts of
other shards to their owners in batches (`outbox`). The sender keeps a batch until the owner has committed its links.
Shards report to a `coordinator`, which divides the budgets, grants IP addresses to shards, passes on what the policies
learn, and detects the end of the crawl (`shard_messages`). `shard` contains all of a shard except Ray. `driver` runs
shards and coordinator as Ray actors, restarts shards whose process or node died, and merges the visits of all shards
into one stream. `checkpoint_storage` saves the state of a shard where it survives the loss of the machine. `merge`
joins the folders of all shards at the end. `remote_parsers` parses the pages of one crawl, or of a shard, in actors on
other machines.

Ray is imported only for crawls with several shards or remote parsers. Everything else works without Ray.
"""

from motherlode.cluster.merge import merge_shards

__all__ = ["merge_shards"]
