/** A compiled RE2 expression, which matches in linear time. True if it matches anywhere in the text. */
export type Pattern = (text: string) => boolean

/** Compiles a user's expression. The error explains what is wrong and where. */
export type CompilePattern = (source: string) => { readonly pattern: Pattern } | { readonly error: string }
