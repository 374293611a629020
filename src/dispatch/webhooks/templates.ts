import { LRUCache } from 'lru-cache'
import type { AutomationContent } from '../../domain/webhooks/automations/events.js'
import { storedTemplate } from '../../domain/webhooks/templates/parse.js'
import type { Template } from '../../domain/webhooks/templates/template.js'

const MAX_TEMPLATES = 1000

/** The template of an automation; undefined if it is invalid. */
export type TemplateOf = (
  content: Pick<AutomationContent, 'payload' | 'secret' | 'access_token'>,
) => Template | undefined

/** Caches parsed templates of automations. */
export const rememberedTemplates = (): TemplateOf => {
  const cache = new LRUCache<string, { readonly template: Template | undefined }>({ max: MAX_TEMPLATES })
  return (content) => {
    const { payload, secret, access_token: accessToken } = content
    const key = `${secret ?? ''}\n${accessToken ?? ''}\n${payload}`
    const cached = cache.get(key)
    if (cached !== undefined) return cached.template
    const template = storedTemplate(content)
    cache.set(key, { template })
    return template
  }
}
