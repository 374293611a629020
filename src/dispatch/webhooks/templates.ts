import * as E from 'fp-ts/lib/Either.js'
import { parseTemplate } from '../../domain/template/parse.js'
import type { Template } from '../../domain/template/template.js'

const MOST_REMEMBERED = 1000

/**
 * Templates of automations, each parsed once as long as it is needed now and then. Whether the webhook has an access token
 * is asked when a message is sent. Undefined for what is no template.
 */
export const rememberedTemplates = (): ((payload: string, secret: string | null) => Template | undefined) => {
  const known = new Map<string, Template | undefined>()
  return (payload, secret) => {
    const key = `${secret ?? ''}\n${payload}`
    if (known.has(key)) return known.get(key)
    const parsed = parseTemplate(payload, { accessToken: true, secret })
    const template = E.isRight(parsed) ? parsed.right : undefined
    if (known.size >= MOST_REMEMBERED) known.clear()
    known.set(key, template)
    return template
  }
}
