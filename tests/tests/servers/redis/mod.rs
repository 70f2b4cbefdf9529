//! A Redis of one's own, alone and with others.

mod groups;
mod having;
mod letting_in;
mod surviving;
mod told;

use lockwork_servers::{Redis, RedisSettings};

fn redis(settings: RedisSettings) -> Redis {
    Redis::start(settings).unwrap()
}
