//! Samples, properties and objects, written from the leaves to the top.
//!
//! ```text
//! sample    data: key, values
//! array     group: sample, its dimensions (empty: they follow from its length), sample, …
//! scalar    group: sample, sample, …
//! compound  group: property, …, data of their headers
//! object    group: compound of its properties, child, …, data of their headers and two digests
//! ```

use std::io::{self, Seek, Write};

use sha2::{Digest as _, Sha256};

use super::header::{self, Digest, Kind, Metadata, digest};
use super::ogawa::{Address, OgawaWriter};

/// A property or object that is written but for what its parent says of it.
#[derive(Debug)]
pub(super) struct Written {
    header: Vec<u8>,
    address: Address,
    digest: Digest,
}

impl Written {
    /// `inner` is the digest of what it holds.
    fn new(header: Vec<u8>, address: Address, inner: Digest) -> Self {
        let digest = digest(Sha256::new().chain_update(&header).chain_update(inner));
        Self {
            header,
            address,
            digest,
        }
    }

    /// Writes an object; `inside` is its properties.
    pub(super) fn object<W: Write + Seek>(
        out: &mut OgawaWriter<W>,
        name: &str,
        metadata: Metadata,
        inside: &[Self],
        children: &[Self],
    ) -> io::Result<Self> {
        let (address, inner) = object(out, inside, children)?;
        Ok(Self::new(header::object(name, metadata), address, inner))
    }

    /// Writes a property that holds others.
    pub(super) fn compound<W: Write + Seek>(
        out: &mut OgawaWriter<W>,
        name: &str,
        metadata: Metadata,
        inside: &[Self],
    ) -> io::Result<Self> {
        let (address, inner) = compound(out, inside)?;
        let header = header::property(name, metadata, Kind::Compound);
        Ok(Self::new(header, address, inner))
    }
}

/// The samples of a property that are written already.
#[derive(Debug, Default)]
pub(super) struct Samples {
    children: Vec<Address>,
    keys: Sha256,
}

impl Samples {
    /// Writes a value of a scalar property.
    pub(super) fn scalar<W: Write + Seek>(
        &mut self,
        out: &mut OgawaWriter<W>,
        values: &[u8],
    ) -> io::Result<()> {
        let key = digest(Sha256::new_with_prefix(values));
        self.children.push(out.data(&[&key, values])?);
        self.keys.update(key);
        Ok(())
    }

    /// Writes a value of an array property.
    pub(super) fn array<W: Write + Seek>(
        &mut self,
        out: &mut OgawaWriter<W>,
        values: &[u8],
    ) -> io::Result<()> {
        self.scalar(out, values)?;
        self.children.push(Address::EMPTY_DATA);
        Ok(())
    }

    /// Writes the property that has these samples.
    pub(super) fn property<W: Write + Seek>(
        self,
        out: &mut OgawaWriter<W>,
        name: &str,
        metadata: Metadata,
        kind: Kind,
    ) -> io::Result<Written> {
        let address = out.group(&self.children)?;
        let header = header::property(name, metadata, kind);
        Ok(Written::new(header, address, digest(self.keys)))
    }
}

/// Writes an object without a header, such as the top of the archive.
pub(super) fn object<W: Write + Seek>(
    out: &mut OgawaWriter<W>,
    inside: &[Written],
    children: &[Written],
) -> io::Result<(Address, Digest)> {
    let (properties, of_properties) = compound(out, inside)?;
    let (mut headers, of_children) = list(children);
    headers.extend(of_properties);
    headers.extend(of_children);
    let mut group = vec![properties];
    group.extend(children.iter().map(|child| child.address));
    group.push(out.data(&[&headers])?);
    let both = Sha256::new_with_prefix(of_properties).chain_update(of_children);
    Ok((out.group(&group)?, digest(both)))
}

fn compound<W: Write + Seek>(
    out: &mut OgawaWriter<W>,
    inside: &[Written],
) -> io::Result<(Address, Digest)> {
    let (headers, inner) = list(inside);
    let mut group: Vec<Address> = inside.iter().map(|child| child.address).collect();
    if !headers.is_empty() {
        group.push(out.data(&[&headers])?);
    }
    Ok((out.group(&group)?, inner))
}

/// The headers of all, one after the other, and a digest of all; zeros of none.
fn list(all: &[Written]) -> (Vec<u8>, Digest) {
    let headers = all.iter().flat_map(|one| one.header.iter().copied());
    let mut sha = Sha256::new();
    for one in all {
        sha.update(one.digest);
    }
    let digest = match all.is_empty() {
        true => [0; 16],
        false => digest(sha),
    };
    (headers.collect(), digest)
}
