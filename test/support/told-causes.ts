import fc from 'fast-check'

// Reports of test files that run side by side keep an error's message and lose its cause.
fc.configureGlobal({ includeErrorInReport: true })
