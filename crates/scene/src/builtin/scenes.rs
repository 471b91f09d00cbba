//! Scenes that need no file: the data sets of the four papers, as they stand
//! in `assets/scenes/`, but for those on captured motions.

macro_rules! scenes {
    ($($name:literal,)*) => {
        /// Names of the built-in scenes.
        pub const SCENES: &[&str] = &[$($name),*];

        /// The text of the built-in scene of that name.
        pub fn scene(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some(include_str!(concat!("../../../../assets/scenes/", $name, ".toml"))),)*
                _ => None,
            }
        }
    };
}

scenes! {
    "stable-spaces-small",
    "stable-spaces-dress",
    "stable-spaces-dress-6664",
    "stable-spaces-dress-10172",
    "stable-spaces-dress-40688",
    "stable-spaces-oscar-dress",
    "stable-spaces-skirt-1",
    "stable-spaces-skirt-2",
    "stable-spaces-long-skirt",
    "stable-spaces-cape",
    "stable-spaces-shirt",
    "stable-spaces-trousers",
    "stable-spaces-poncho",
    "try-on-small",
    "try-on",
    "adaptive-bases-small",
    "adaptive-bases-sweater",
    "adaptive-bases-trousers",
    "adaptive-bases-sleeve",
    "deformation-transformer-small",
    "deformation-transformer-skirt-1",
    "deformation-transformer-skirt-1-responsive",
    "deformation-transformer-skirt-1-damped",
    "deformation-transformer-skirt-2",
    "deformation-transformer-dress",
    "deformation-transformer-t-shirt",
}
