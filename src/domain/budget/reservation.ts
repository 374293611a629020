import { tokensIn } from '../completion/usage.js'
import type { CompletionRequest } from '../completion/request.js'

/** Tokens that a choice is taken to write at most where the request does not say. */
const USUAL_MOST_TOKENS = 4096

type Asked = Pick<CompletionRequest, 'n' | 'max_tokens' | 'max_completion_tokens'>

/** The tokens that a completion is taken to use at most: its prompt's by the bytes, and all that it may write. */
export const mostTokens = (
  { n, max_tokens, max_completion_tokens }: Asked,
  promptBytes: number,
): { readonly prompt: number; readonly completion: number } => ({
  prompt: tokensIn(promptBytes),
  completion: n * (max_completion_tokens ?? max_tokens ?? USUAL_MOST_TOKENS),
})
