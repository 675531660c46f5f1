//! Records that papers print: what several tests begin with.

/// Figure 1a of barakat2016.
pub(crate) const FIGURE_1: [&str; 6] = [
    "oncologist, treatment, cancer, surgery, side effects, vomiting",
    "oncologist, treatment, cancer, surgery, side effects, nausea",
    "oncologist, treatment, cancer",
    "treatment, surgery, side effects, chemotherapy",
    "oncologist, treatment, cancer",
    "oncologist, surgery",
];

/// The ten records of figure 2a of terrovitis2012; the paper's clusters are the first five and the others.
pub(crate) const FIGURE_2: [&str; 10] = [
    "itunes, flu, madonna, ikea, ruby",
    "madonna, flu, viagra, ruby, audi a4, sony tv",
    "itunes, madonna, audi a4, ikea, sony tv",
    "itunes, flu, viagra",
    "itunes, flu, madonna, audi a4, sony tv",
    "madonna, digital camera, panic disorder, playboy",
    "iphone sdk, madonna, ikea, ruby",
    "iphone sdk, digital camera, madonna, playboy",
    "iphone sdk, digital camera, panic disorder",
    "iphone sdk, digital camera, madonna, ikea, ruby",
];
