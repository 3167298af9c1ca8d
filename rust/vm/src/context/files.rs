//! The files that modules of a context lie in, and what became of them.

use super::Instance;
use crate::mapped::Watch;
use crate::status::Result;

impl Instance {
    /// DATA_LOSS if the file that the module is in was changed, or a file that it uses has lost pages.
    #[inline]
    pub fn check_files(&self) -> Result<()> {
        if let Instance::Bytecode(i) = self {
            i.module.archive().check()?;
        }
        if Watch::all_whole() { Ok(()) } else { self.check_pages() }
    }

    #[cold]
    fn check_pages(&self) -> Result<()> {
        match self {
            Instance::Native(i) => i.module.check_pages(),
            Instance::Bytecode(i) => {
                i.module.archive().check_pages()?;
                i.imports.iter().flatten().try_for_each(|target| target.instance.check_pages())
            }
        }
    }
}
