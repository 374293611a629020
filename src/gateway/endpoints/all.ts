import type { Api } from '../../domain/gateway/upstreams/apis.js'
import { chat, completions } from './chat.js'
import type { Endpoint } from './endpoint.js'
import { embeddings, moderations, rerank } from './lists.js'
import { messages } from './messages.js'
import { responses } from './responses.js'

export const ENDPOINTS: Readonly<Record<Api, Endpoint>> = {
  chat,
  responses,
  messages,
  embeddings,
  completions,
  moderations,
  rerank,
}
