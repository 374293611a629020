import { LRUCache } from 'lru-cache'
import * as E from 'fp-ts/lib/Either.js'
import { parseTemplate } from '../../domain/webhooks/templates/parse.js'
import type { Template } from '../../domain/webhooks/templates/template.js'

const MOST_REMEMBERED = 1000

/**
 * Templates of automations, each parsed once as long as it is needed now and then. Whether the webhook has an access token
 * is asked when a message is sent. Undefined for what is no template.
 */
export const rememberedTemplates = (): ((payload: string, secret: string | null) => Template | undefined) => {
  const cache = new LRUCache<string, { readonly template: Template | undefined }>({ max: MOST_REMEMBERED })
  return (payload, secret) => {
    const key = `${secret ?? ''}\n${payload}`
    const cached = cache.get(key)
    if (cached !== undefined) return cached.template
    const parsed = parseTemplate(payload, { accessToken: true, secret })
    const template = E.isRight(parsed) ? parsed.right : undefined
    cache.set(key, { template })
    return template
  }
}
