/** The APIs of model providers that the gateway serves, and that an upstream may speak. */
export const APIS = [
  'chat',
  'responses',
  'messages',
  'embeddings',
  'completions',
  'moderations',
  'rerank',
] as const
export type Api = (typeof APIS)[number]

/** What an upstream speaks that does not say so. */
export const DEFAULT_APIS: readonly Api[] = ['chat', 'embeddings', 'completions', 'moderations', 'rerank']
