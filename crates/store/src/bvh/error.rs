//! What can be wrong with a BVH file.

/// Why bytes are not a BVH file; lines count from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BvhError {
    /// Another word stands where one of the format's own is due.
    #[error("line {line}: expected {expected}, found \"{found}\"")]
    Unexpected {
        /// Where.
        line: usize,
        /// What the format asks for here.
        expected: &'static str,
        /// What stands there, cut to 40 characters.
        found: String,
    },
    /// The file ends too soon.
    #[error("line {line}: the file ends where {expected} is due")]
    EndsEarly {
        /// The last line.
        line: usize,
        /// What should follow.
        expected: &'static str,
    },
    /// A joint has no name.
    #[error("line {line}: a joint has no name")]
    NoName {
        /// Where.
        line: usize,
    },
    /// A second `ROOT`.
    #[error("line {line}: a second ROOT; a file may have only one")]
    SecondRoot {
        /// Where.
        line: usize,
    },
    /// A joint is nested too deep.
    #[error("line {line}: joints are nested deeper than the limit of {limit}")]
    TooDeep {
        /// Where.
        line: usize,
        /// The most that is allowed.
        limit: usize,
    },
    /// There are too many joints.
    #[error("line {line}: more joints than the limit of {limit}")]
    TooManyJoints {
        /// Where.
        line: usize,
        /// The most that is allowed.
        limit: usize,
    },
    /// A joint's `{` has no `}`.
    #[error("line {line}: the brace of joint {joint} is never closed")]
    Unclosed {
        /// Where the joint begins.
        line: usize,
        /// Its name.
        joint: String,
    },
    /// A `}` with no `{`.
    #[error("line {line}: a closing brace without an opening one")]
    StrayBrace {
        /// Where.
        line: usize,
    },
    /// A joint has no offset.
    #[error("line {line}: joint {joint} has no OFFSET")]
    NoOffset {
        /// Where the joint or end site begins.
        line: usize,
        /// The joint's name.
        joint: String,
    },
    /// A joint has two of what it may have once.
    #[error("line {line}: joint {joint} has a second {what}")]
    Repeated {
        /// Where.
        line: usize,
        /// The joint's name.
        joint: String,
        /// `OFFSET`, `CHANNELS` or `End Site`.
        what: &'static str,
    },
    /// A word that names no channel.
    #[error("line {line}: \"{found}\" is no channel")]
    UnknownChannel {
        /// Where.
        line: usize,
        /// The word, cut to 40 characters.
        found: String,
    },
    /// A joint has the same channel twice.
    #[error("line {line}: joint {joint} has the channel {channel} twice")]
    RepeatedChannel {
        /// Where.
        line: usize,
        /// The joint's name.
        joint: String,
        /// The channel's keyword.
        channel: &'static str,
    },
    /// `CHANNELS` says another number than there are words.
    #[error("line {line}: CHANNELS says {declared}, but {found} follow")]
    ChannelCount {
        /// Where.
        line: usize,
        /// What it says.
        declared: u64,
        /// How many words follow.
        found: usize,
    },
    /// No joint has a channel, so rows have no numbers.
    #[error("line {line}: no joint has a channel")]
    NoChannels {
        /// Where the motion begins.
        line: usize,
    },
    /// A word that is no number.
    #[error("line {line}: \"{found}\" is not a number")]
    BadNumber {
        /// Where.
        line: usize,
        /// The word, cut to 40 characters.
        found: String,
    },
    /// A number that is not finite, or too large to be meant.
    #[error("line {line}: {found} is not finite or beyond 1e9")]
    NotFinite {
        /// Where.
        line: usize,
        /// The number as written, cut to 40 characters.
        found: String,
    },
    /// The time between frames is not positive.
    #[error("line {line}: a frame time of {value} s is not above zero")]
    FrameTime {
        /// Where.
        line: usize,
        /// What it says [s].
        value: f64,
    },
    /// A row has another number of values than there are channels.
    #[error("line {line}: the row has {found} numbers, the joints have {expected} channels")]
    RowLength {
        /// Where.
        line: usize,
        /// How many numbers it has.
        found: usize,
        /// How many channels there are.
        expected: usize,
    },
    /// The file ends before as many rows as `Frames:` says.
    #[error("line {line}: the file ends after {found} of the {declared} frames it declares")]
    TooFewRows {
        /// The last line.
        line: usize,
        /// How many rows there are.
        found: usize,
        /// What `Frames:` says.
        declared: u64,
    },
    /// There are more rows than `Frames:` says.
    #[error("line {line}: more rows than the {declared} frames that the file declares")]
    TooManyRows {
        /// The first row too many.
        line: usize,
        /// What `Frames:` says.
        declared: u64,
    },
}

/// Why a [`BvhFile`](super::BvhFile) cannot be written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BvhWriteError {
    /// The joints are not in the order in which the text nests them.
    #[error("joint {joint} does not follow its parent in depth-first order")]
    Order {
        /// The joint's index.
        joint: usize,
    },
    /// The values do not fill whole rows.
    #[error("{values} values are not whole rows of {channels} channels")]
    Rows {
        /// How many values.
        values: usize,
        /// How many channels a row has.
        channels: usize,
    },
    /// A number is not finite.
    #[error("value {index} is not finite")]
    NotFinite {
        /// Its index among the values.
        index: usize,
    },
    /// An offset is not finite.
    #[error("joint {joint} has an offset that is not finite")]
    Offset {
        /// The joint's index.
        joint: usize,
    },
    /// The time between frames is not positive.
    #[error("a frame time of {0} s is not above zero")]
    FrameTime(f64),
}
