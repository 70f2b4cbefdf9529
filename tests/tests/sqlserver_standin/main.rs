//! The stand-in for SQL Server, asked by a real client.

mod guest;
mod talking;
