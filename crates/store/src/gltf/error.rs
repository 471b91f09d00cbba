//! What can be wrong with a glTF file: [`GltfError`].

use std::fmt;

/// A kind of thing that a glTF file lists and names by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Element {
    /// A scene.
    Scene,
    /// A node.
    Node,
    /// A mesh.
    Mesh,
    /// A skin.
    Skin,
    /// An animation sampler.
    Sampler,
    /// An accessor.
    Accessor,
    /// A buffer view.
    BufferView,
    /// A buffer.
    Buffer,
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scene => "scene",
            Self::Node => "node",
            Self::Mesh => "mesh",
            Self::Skin => "skin",
            Self::Sampler => "sampler",
            Self::Accessor => "accessor",
            Self::BufferView => "buffer view",
            Self::Buffer => "buffer",
        })
    }
}

/// A place in a glTF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The top level.
    File,
    /// A scene.
    Scene(u32),
    /// A node.
    Node(u32),
    /// A primitive of a mesh.
    Primitive {
        /// The mesh.
        mesh: u32,
        /// Which of its primitives.
        primitive: u32,
    },
    /// A skin.
    Skin(u32),
    /// A channel of an animation.
    Channel {
        /// The animation.
        animation: u32,
        /// Which of its channels.
        channel: u32,
    },
    /// An accessor.
    Accessor(u32),
    /// A buffer view.
    BufferView(u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("the file"),
            Self::Scene(i) => write!(f, "scene {i}"),
            Self::Node(i) => write!(f, "node {i}"),
            Self::Primitive { mesh, primitive } => write!(f, "mesh {mesh} primitive {primitive}"),
            Self::Skin(i) => write!(f, "skin {i}"),
            Self::Channel { animation, channel } => {
                write!(f, "animation {animation} channel {channel}")
            }
            Self::Accessor(i) => write!(f, "accessor {i}"),
            Self::BufferView(i) => write!(f, "buffer view {i}"),
        }
    }
}

/// Why bytes don't make a [`GltfDocument`](super::GltfDocument).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GltfError {
    /// The file itself can't be read.
    #[error("the file cannot be read")]
    File(#[source] std::io::Error),
    /// There are no bytes.
    #[error("the file is empty")]
    Empty,
    /// Neither binary nor JSON.
    #[error("the file starts with {found:?}, neither the magic `glTF` nor a JSON object")]
    Magic {
        /// The first bytes, at most four.
        found: Vec<u8>,
    },
    /// A binary container of another version.
    #[error("the binary container has version {version}, only 2 is known")]
    ContainerVersion {
        /// The version it states.
        version: u32,
    },
    /// The file ends before a part of the binary container.
    #[error("the {part} needs {needed} bytes, the file has {found}")]
    Truncated {
        /// Which part: `header`, `whole file`, `chunk header` or `chunk`.
        part: &'static str,
        /// Bytes from the start of the file to the end of the part.
        needed: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// The first chunk is not the JSON.
    #[error("the first chunk has type {found:#010x}, not JSON")]
    NoJson {
        /// The type it has.
        found: u32,
    },
    /// The JSON is not UTF-8.
    #[error("the JSON is not UTF-8 at its byte {offset}")]
    NotUtf8 {
        /// The first bad byte, from the start of the JSON.
        offset: usize,
    },
    /// The JSON does not parse, or a field has the wrong type.
    #[error("the JSON is not a glTF asset")]
    Json(#[from] serde_json::Error),
    /// Another version of glTF.
    #[error("the asset has version {version}, only 2.0 is known")]
    Version {
        /// The version it states.
        version: String,
    },
    /// The file can't be understood without an extension that is not known here.
    #[error("the file requires the extension {name}, which is not supported")]
    Extension {
        /// Which extension.
        name: String,
    },
    /// An index points past the end of its list.
    #[error("{place} names {element} {index}, but there are only {count}")]
    NoSuch {
        /// Where the index stands.
        place: Place,
        /// What it should point at.
        element: Element,
        /// The index.
        index: u32,
        /// How many there are.
        count: usize,
    },
    /// A buffer has no address, and the file holds no bytes for it.
    #[error("buffer {buffer} has no bytes: it names no file and there is no binary chunk for it")]
    MissingBuffer {
        /// The buffer.
        buffer: u32,
    },
    /// An address that is not a file in the same folder or below.
    #[error("buffer {buffer} lies outside the folder of the file: {uri}")]
    OutsideFolder {
        /// The buffer.
        buffer: u32,
        /// Its address.
        uri: String,
    },
    /// A data address that does not decode.
    #[error("buffer {buffer} has a data address that is not valid base64")]
    DataUri {
        /// The buffer.
        buffer: u32,
    },
    /// The file of a buffer can't be read.
    #[error("buffer {buffer} cannot be read: {uri}")]
    BufferFile {
        /// The buffer.
        buffer: u32,
        /// Its address.
        uri: String,
        /// Why.
        source: std::io::Error,
    },
    /// A buffer has fewer bytes than it states.
    #[error("buffer {buffer} states {stated} bytes, but there are only {found}")]
    ShortBuffer {
        /// The buffer.
        buffer: u32,
        /// Bytes that it states.
        stated: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// A view runs past the end of its buffer.
    #[error(
        "buffer view {view} of {length} bytes at {offset} runs past the {available} of buffer {buffer}"
    )]
    ViewRange {
        /// The view.
        view: u32,
        /// Its buffer.
        buffer: u32,
        /// Where it starts.
        offset: u64,
        /// How long it is.
        length: u64,
        /// How long the buffer is.
        available: u64,
    },
    /// An accessor runs past the end of its view.
    #[error(
        "accessor {accessor} of {count} elements runs past the {available} bytes of buffer view {view}"
    )]
    AccessorRange {
        /// The accessor.
        accessor: u32,
        /// Its view.
        view: u32,
        /// How many elements it states.
        count: u64,
        /// How long the view is.
        available: u64,
    },
    /// Elements overlap.
    #[error("accessor {accessor} has elements of {size} bytes, but a stride of {stride}")]
    Stride {
        /// The accessor.
        accessor: u32,
        /// Bytes an element.
        size: u64,
        /// Bytes from one to the next.
        stride: u64,
    },
    /// An accessor of no elements.
    #[error("accessor {accessor} has no elements")]
    NoElements {
        /// The accessor.
        accessor: u32,
    },
    /// An accessor has the wrong type for its use.
    #[error(
        "{place} needs {expected}, accessor {accessor} has {found} of component type {component_type}"
    )]
    AccessorType {
        /// Where it is used.
        place: Place,
        /// The accessor.
        accessor: u32,
        /// What would fit.
        expected: &'static str,
        /// The type it has.
        found: String,
        /// The component type it has.
        component_type: u32,
    },
    /// The content is out of proportion to the file.
    #[error(
        "accessor {accessor} with its {count} elements would take the content beyond {limit} bytes, 256 times the file"
    )]
    TooLarge {
        /// The accessor.
        accessor: u32,
        /// How many elements it states.
        count: u64,
        /// How large all content may be.
        limit: u64,
    },
    /// A value that is NaN or infinite.
    #[error("accessor {accessor} element {element} is not finite")]
    NotFinite {
        /// The accessor.
        accessor: u32,
        /// Which of its elements.
        element: usize,
    },
    /// A sparse accessor replaces an element that is not there, or is out of order.
    #[error(
        "accessor {accessor} sparse entry {entry} replaces element {element} of {count}, after {after:?}"
    )]
    SparseIndex {
        /// The accessor.
        accessor: u32,
        /// Which of the sparse entries.
        entry: usize,
        /// The element it replaces.
        element: u32,
        /// How many elements there are.
        count: u64,
        /// The element that the entry before replaces.
        after: Option<u32>,
    },
    /// A node has two parents.
    #[error("node {node} is a child of both node {first} and node {second}")]
    TwoParents {
        /// The node.
        node: u32,
        /// One parent.
        first: u32,
        /// The other.
        second: u32,
    },
    /// A node is its own ancestor.
    #[error("node {node} is among its own ancestors")]
    NodeCycle {
        /// The node.
        node: u32,
    },
    /// A transform that is not finite, not affine or has a rotation of no length.
    #[error("node {node} has a transform that is not finite, not affine or without a rotation")]
    NodeTransform {
        /// The node.
        node: u32,
    },
    /// A primitive without positions.
    #[error("{place} has no POSITION")]
    NoPositions {
        /// The primitive.
        place: Place,
    },
    /// A mode that glTF does not have.
    #[error("{place} has mode {mode}, the last one is 6")]
    Mode {
        /// The primitive.
        place: Place,
        /// The mode.
        mode: u32,
    },
    /// An attribute has more or fewer elements than there are positions.
    #[error("{place} has {expected} positions, but {found} elements of {attribute}")]
    AttributeLength {
        /// The primitive.
        place: Place,
        /// Which attribute.
        attribute: String,
        /// How many elements it has.
        found: u64,
        /// How many positions there are.
        expected: usize,
    },
    /// A triangle names a vertex that is not there.
    #[error("{place} index {corner} names vertex {vertex}, but there are only {n_vertices}")]
    VertexIndex {
        /// The primitive.
        place: Place,
        /// Which of its indices.
        corner: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many vertices there are.
        n_vertices: usize,
    },
    /// Joints without weights, or weights without joints.
    #[error("{place} has {has}, but not {lacks}")]
    LoneAttribute {
        /// The primitive.
        place: Place,
        /// The attribute it has.
        has: String,
        /// The attribute it lacks.
        lacks: String,
    },
    /// Primitives of one mesh have different numbers of morph targets.
    #[error("{place} has {found} morph targets, the first of its mesh has {expected}")]
    TargetCount {
        /// The primitive.
        place: Place,
        /// How many it has.
        found: usize,
        /// How many the first has.
        expected: usize,
    },
    /// A default weight of a morph target is not finite.
    #[error("mesh {mesh} has a morph target weight that is not finite")]
    MeshWeights {
        /// The mesh.
        mesh: u32,
    },
    /// A skin without joints.
    #[error("skin {skin} has no joints")]
    NoJoints {
        /// The skin.
        skin: u32,
    },
    /// A node is in a skin twice.
    #[error("skin {skin} names node {node} twice")]
    JointTwice {
        /// The skin.
        skin: u32,
        /// The node.
        node: u32,
    },
    /// Too few inverse bind matrices.
    #[error("skin {skin} has {expected} joints, but {found} inverse bind matrices")]
    InverseBindCount {
        /// The skin.
        skin: u32,
        /// How many matrices.
        found: usize,
        /// How many joints.
        expected: usize,
    },
    /// An inverse bind matrix that can't be inverted.
    #[error("skin {skin} joint {joint} has an inverse bind matrix that is singular or not affine")]
    SingularBind {
        /// The skin.
        skin: u32,
        /// Which of its joints.
        joint: usize,
    },
    /// A vertex follows a joint that the skin does not have.
    #[error("{place} vertex {vertex} follows joint {joint}, but skin {skin} has only {n_joints}")]
    JointIndex {
        /// The primitive.
        place: Place,
        /// The vertex.
        vertex: usize,
        /// The joint it follows.
        joint: u16,
        /// The skin.
        skin: u32,
        /// How many joints there are.
        n_joints: usize,
    },
    /// A node has a skin for a mesh without joints.
    #[error("node {node} bends mesh {mesh} with a skin, but {place} has no joints")]
    NotSkinned {
        /// The node.
        node: u32,
        /// Its mesh.
        mesh: u32,
        /// The primitive.
        place: Place,
    },
    /// Times of keys that don't increase, or start before zero.
    #[error("{place} has key {key} at a time that is negative or not after the one before")]
    KeyTime {
        /// The channel.
        place: Place,
        /// The key.
        key: usize,
    },
    /// More or fewer values than keys ask for.
    #[error("{place} has {found} values, its keys need {expected}")]
    KeyValues {
        /// The channel.
        place: Place,
        /// How many there are.
        found: u64,
        /// How many there should be.
        expected: u64,
    },
    /// A key with a rotation of no length.
    #[error("{place} key {key} is a rotation of no length")]
    KeyRotation {
        /// The channel.
        place: Place,
        /// The key.
        key: usize,
    },
    /// A property or interpolation that glTF does not have.
    #[error("{place} has an unknown path or interpolation: {found}")]
    ChannelKind {
        /// The channel.
        place: Place,
        /// What it says.
        found: String,
    },
}
