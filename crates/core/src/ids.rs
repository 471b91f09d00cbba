//! Typed indices, so that a joint can't be passed where a vertex is meant.

use core::fmt;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident($int:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $int);

        impl $name {
            /// The index as an array offset.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

index! {
    /// A vertex of a mesh.
    VertexId(u32)
}
index! {
    /// A joint of a skeleton.
    JointId(u16)
}
index! {
    /// A frame of a clip.
    FrameIndex(u32)
}
