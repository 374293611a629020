import type { ApiKey } from '../../domain/access/directory.js'
import { keyName } from '../../domain/access/events.js'
import { keysOf } from '../../domain/access/look-ups.js'
import { nullable, nullableText } from '../../domain/codec/containers.js'
import { instant } from '../../domain/codec/instant.js'
import { string } from '../../domain/codec/leaves.js'
import { closed, open } from '../../domain/codec/struct.js'
import { id } from '../../domain/ids.js'
import type { Access } from '../auth/access.js'
import { makeKey, type KeyPorts } from '../auth/new-key.js'
import { throwIfRefused } from '../auth/rights.js'
import { readsDirectory, writesDirectory } from '../conduct.js'
import { route, type AnyRoute } from '../route.js'
import { done, neverStored } from './answers.js'
import { repeatableId } from './idempotency.js'
import { pageOf, pageQuery, takePage, askedPage } from './page.js'

const PATH = '/api/users/me/api-keys'

const newApiKey = closed('NewApiKey', { optional: { name: nullableText(keyName) } })

const fields = {
  required: { id, name: nullable(keyName), prefix: string, created_at: instant },
}
const apiKey = open('ApiKey', fields)
const createdApiKey = open('CreatedApiKey', {
  required: { ...fields.required, api_key: nullable(string) },
})

const shown = ({ key_id, name, prefix, issued_at }: ApiKey) => ({
  id: key_id,
  name,
  prefix,
  created_at: issued_at,
})

export const listApiKeys = (access: Pick<Access, 'directory'>): AnyRoute =>
  route({
    method: 'get',
    path: PATH,
    summary: "Lists the caller's valid API keys: their names and beginnings, never the keys.",
    query: pageQuery,
    ...readsDirectory,
    response: { schema: pageOf(apiKey).schema, headers: [] },
    handle: async ({ query, principal: { userId } }) => {
      const directory = access.directory()
      const { data, next } = takePage(
        askedPage(query),
        (after) => keysOf(directory, userId, after),
        ({ key_id }) => key_id,
      )
      return { body: { data: data.map(shown), next } }
    },
  })

export const createApiKey = (ports: KeyPorts, access: Pick<Access, 'run'>): AnyRoute =>
  route({
    method: 'post',
    path: PATH,
    summary:
      'Makes an API key for the caller. The answer carries it once; repeated with the same Idempotency-Key it answers ' +
      'the same key without its text; under another name that is a conflict.',
    body: newApiKey,
    ...writesDirectory,
    errors: [...writesDirectory.errors, 'conflict'],
    requestHeaders: ['Idempotency-Key'],
    response: { schema: createdApiKey.schema },
    handle: async ({ body: { name }, headers, principal: { userId: user }, cause }) => {
      const id = repeatableId(ports, user, headers['idempotency-key'])
      const { key, known } = makeKey(ports, name, id)
      const command = { type: 'IssueApiKey', user, key: known } as const
      const { state, refusals, position } = await access.run(command, cause)
      throwIfRefused(refusals.get(0))
      const kept = state.keys.get(id)!
      const api_key = kept.hash === known.hash ? key : null
      return { body: { ...shown(kept), api_key }, position, headers: neverStored }
    },
  })

export const revokeApiKey = (access: Pick<Access, 'run'>): AnyRoute =>
  route({
    method: 'delete',
    path: `${PATH}/:id`,
    summary: "Revokes one of the caller's API keys: here at once, in other processes within a second.",
    ...writesDirectory,
    errors: [...writesDirectory.errors, 'not-found', 'conflict'],
    response: done,
    handle: async ({ params, principal: { userId: user }, cause }) => {
      const command = { type: 'RevokeApiKey', user, key_id: params['id']! } as const
      const { refusals, position } = await access.run(command, cause)
      throwIfRefused(refusals.get(0))
      return { body: {}, position }
    },
  })
