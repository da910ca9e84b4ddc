#!/bin/sh
# From a raw pool of images and captions to a stream that a model learns: six commands.
# The pool is made of emoji; with a crawl of your own, begin with the second command.
#
#     sh examples/own_tic.sh [FOLDER]
#
# Needs onward[clip,curate,words] and WordNet (Debian's wordnet-base).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-own-tic}

onward data make emoji-pool --out "$out/pool"
onward curate date "$out/pool/pool.parquet" --snapshots "$out/pool/snapshots" --out "$out/dated"
onward curate filter "$out/dated" --step basic --out "$out/filtered"
onward curate tests "$out/filtered" --images "$out/pool/images" --out "$out/tests" \
    --retrieval 40 --classes "$here/emoji_classes.txt" --per-class 3 --similarity 0.3 \
    --subtree animal
onward curate shards "$out/tests" --images "$out/pool/images" --out "$out/shards" \
    --shard-size 500 --template "{c}." --template "a drawing of {c}."
onward run tic --data "$out/shards" --method finetune --training max_steps=60 --out "$out/results"
