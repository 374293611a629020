/** A regular expression of RE2, which takes linear time: true where it matches anywhere in a text. */
export type Pattern = (text: string) => boolean

/** Compiles what a user wrote; the error is a sentence that says what is wrong with it, and where. */
export type CompilePattern = (source: string) => { readonly pattern: Pattern } | { readonly error: string }
