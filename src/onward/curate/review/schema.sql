-- A campaign. Votes are only ever added; what counts at the moment is in `standing`, and follows
-- from votes, questions and who was revoked. Times are microseconds since 1970, in UTC.

create table settings (name text primary key, value text not null) without rowid;

-- Items are numbered in the order they are asked, which is a random one: a number says nothing
-- about where an image comes from. `wanted` votes are to stand; 0 for images that are gold only.
create table items (
  item integer primary key,
  id text not null unique,
  bucket integer,
  concept text,
  path text not null,
  kind text not null,
  offset integer not null,
  size integer not null,
  wanted integer not null,
  votes integer not null default 0,
  held integer not null default 0,
  disputed integer not null default 0,
  -- Of the votes that stand: ordered pairs of equal ones; votes for one label or none, and equal
  -- pairs of those. Agreement is counted from these.
  pairs integer not null default 0,
  single integer not null default 0,
  single_pairs integer not null default 0,
  gold text,
  -- Never more than wanted, whoever is asking: a vote stands in a place that was held for it.
  check (votes >= 0 and held >= 0 and votes + held <= wanted)
);
create index open_items on items (item) where votes + held < wanted;
create index disputed_items on items (item) where disputed;
create index alone on items (item) where votes = 1;
create index alone_single on items (item) where single = 1;
create index gold_items on items (item) where gold is not null;

-- A token is kept as its hash. `cursor` is the item up to which there is nothing new for them.
create table annotators (
  annotator integer primary key,
  name text not null unique,
  token text unique,
  invited integer not null,
  revoked integer,
  cursor integer not null default 0,
  asked integer not null default 0,
  answered integer not null default 0
);

-- What somebody was asked: 'new', 'gold', 'repeat' or 'import'. While `held`, a place among the
-- wanted votes is kept for its answer; `vote` is the latest answer.
create table questions (
  question integer primary key autoincrement,
  annotator integer not null references annotators,
  item integer not null references items,
  kind text not null,
  asked integer not null,
  until integer not null,
  held integer not null,
  vote integer
);
create index questions_of on questions (annotator, question);
create index questions_about on questions (annotator, item);
create index questions_on on questions (item);
create index repeats on questions (annotator) where kind = 'repeat';
create index unanswered on questions (annotator, question) where vote is null;
create index held_questions on questions (until) where held;

-- `key` is chosen by whoever sends the vote: sent twice, it is one vote.
create table votes (
  vote integer primary key,
  key text not null unique,
  question integer not null references questions,
  annotator integer not null references annotators,
  labels text not null,
  sensitive integer not null,
  seconds real,
  at integer not null
);
create index votes_seconds on votes (annotator, seconds);
create index votes_at on votes (at);
create trigger votes_are_not_changed before update on votes
  begin select raise(abort, 'votes are not changed'); end;
create trigger votes_are_not_removed before delete on votes
  begin select raise(abort, 'votes are not removed'); end;

create table standing (
  item integer not null references items,
  annotator integer not null references annotators,
  labels text not null,
  sensitive integer not null,
  question integer not null,
  vote integer not null,
  primary key (item, annotator)
) without rowid;
create index standing_of on standing (annotator);
create index standing_labels on standing (labels);
create index standing_sensitive on standing (item) where sensitive;
