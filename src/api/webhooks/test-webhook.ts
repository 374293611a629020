import * as E from 'fp-ts/lib/Either.js'
import type * as t from 'io-ts'
import type { Services } from '../../application/services.js'
import { nullable, recordOf, withDefault } from '../../kernel/codec/containers.js'
import { int64, number, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id } from '../../kernel/ids.js'
import { parseTemplate } from '../../domain/webhooks/templates/parse.js'
import { templateText } from '../../domain/webhooks/automations/events.js'
import type { SigningSecret } from '../../domain/webhooks/signing.js'
import { headerSecrets } from '../../domain/secrets/static-headers.js'
import type { WebhookContent } from '../../domain/webhooks/webhook.js'
import { roleInTeam } from '../server/authorization.js'
import { Failure, invalidBody } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { writeDirectory } from '../server/route-kinds.js'
import { existingWebhook, requireGoodWebhook, writeToWebhook } from '../../application/webhooks/webhooks.js'
import { WEBHOOK_PATH, webhookInPath } from './one-webhook.js'
import { secretValuesOf } from '../../application/secrets/secret-values.js'
import { sendTest, type TestResult } from '../../application/webhooks/send-test.js'
import { newWebhookFields, resourceName } from './webhook-codecs.js'
import { PATH } from './webhooks.js'

const payload = nullable(templateText)

const savedTest = closed('WebhookTest', {
  says: 'A payload template as in automations. It is sent once and not stored.',
  optional: { payload },
})

const unsavedTest = closed('UnsavedWebhookTest', {
  says: 'A webhook that need not exist, and a payload template as in automations. Nothing is stored.',
  required: { url: newWebhookFields.required.url },
  optional: { ...newWebhookFields.optional, name: withDefault(resourceName, 'test'), payload },
})

const milliseconds = nullable(number)

const testResult = open('WebhookTestResult', {
  says:
    'What was sent and the response of the endpoint, with the secrets of the webhook redacted. `error`: why there was no ' +
    'response; `address_rule`: which rule does not allow the address; `hint`: what to change. Durations are in ' +
    'milliseconds, null for phases that were not reached.',
  required: {
    id,
    request: nullable(
      open('SentTest', {
        required: { method: oneOf('POST'), url: string, headers: recordOf(string), body: string },
      }),
    ),
    status: nullable(int64),
    headers: recordOf(string),
    body: string,
    error: nullable(string),
    address_rule: nullable(oneOf('url', 'port', 'private_network', 'metadata', 'own_address', 'reserved')),
    hint: nullable(string),
    duration_ms: number,
    phases: open('TestPhases', {
      required: {
        dns: milliseconds,
        connect: milliseconds,
        tls: milliseconds,
        first_byte: milliseconds,
        total: number,
      },
    }),
    peer: nullable(string),
  },
})

const DEFAULT_PAYLOAD = '{"event_type": "TEST"}'
const MAX_CONCURRENT = 4

type TestServices = Pick<
  Services,
  | 'eventStore'
  | 'clock'
  | 'ids'
  | 'access'
  | 'secrets'
  | 'webhookSender'
  | 'endingTests'
  | 'hmacSha256'
  | 'vendor'
>

/** Test messages, sent through the same SSRF guard as deliveries. */
export const testRoutes = (services: TestServices): readonly AnyRoute[] => {
  const send = sendTest(services)
  const ofTeam = concurrencyLimit(MAX_CONCURRENT)
  const test = async (
    team: string,
    { url, timeout_s, access_token, secret, headers }: WebhookContent,
    source: string | null,
  ): Promise<TestResult> => {
    const template = templateOf(source ?? DEFAULT_PAYLOAD, { accessToken: access_token, secret })
    const leave = ofTeam.enter(team)
    if (leave === undefined)
      throw new Failure(
        'overloaded',
        `The team already has ${MAX_CONCURRENT} webhook tests running. Try again.`,
        { retryAfter: 5 },
      )
    try {
      const valuesOf = async (name: string | null) =>
        name === null ? null : secretValuesOf(services, team, name)
      const [accessTokens, secrets] = await Promise.all([valuesOf(access_token), valuesOf(secret)])
      const headerValues = new Map<string, readonly SigningSecret[]>()
      for (const name of headerSecrets(headers))
        headerValues.set(name, await secretValuesOf(services, team, name))
      const webhook = { url, timeout_s, accessTokens, secrets, headers, headerSecrets: headerValues }
      return await send(webhook, template, services.endingTests)
    } finally {
      leave()
    }
  }

  const ofSaved = writeDirectory({
    method: 'post',
    path: `${WEBHOOK_PATH}/test`,
    summary:
      'Sends a test message to a webhook, even a disabled one, and returns the response of its endpoint. The payload may ' +
      "reference the webhook's secrets. Needs the role team_administrator.",
    body: savedTest,
    response: testResult,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: async (request) => {
      const { id, team, content } = await existingWebhook(services, webhookInPath(request))
      const result = await test(team, content, request.body.payload)
      return async (cause) => {
        if (result.request === null) return { body: result }
        const { status, duration_ms } = result
        const command = { type: 'RecordTest', id, team, status, duration_ms } as const
        const { position } = await writeToWebhook(services, command, cause)
        return { body: answered(result), position }
      }
    },
  })

  const ofUnsaved = writeDirectory({
    method: 'post',
    path: `${PATH}/test`,
    summary:
      'Sends a test message to a webhook that need not exist, and returns the response of its endpoint, what was sent, and ' +
      'what to change after a failure. Nothing is stored. Needs the role team_administrator.',
    body: unsavedTest,
    response: testResult,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: async ({ team, body }) => {
      const { payload: source, enabled: __, ...content } = body
      await requireGoodWebhook(services, team, content, content)
      const result = await test(team, content, source)
      return () => Promise.resolve({ body: answered(result) })
    },
  })

  return [ofSaved, ofUnsaved]
}

/** @throws Failure if the service stopped first; the message may have arrived */
const answered = (result: TestResult): t.TypeOf<typeof testResult> => {
  if (result.error === 'aborted')
    throw new Failure('overloaded', 'The service is stopping before the endpoint has responded. Try again.', {
      retryAfter: 5,
    })
  return result
}

const templateOf = (payload: string, known: Parameters<typeof parseTemplate>[1]) => {
  const parsed = parseTemplate(payload, known)
  if (E.isLeft(parsed)) throw invalidBody([{ loc: ['payload'], type: 'value_error', ...parsed.left }])
  return parsed.right
}

/** A concurrency limit per key. Returns a function that frees the slot, or undefined at the limit. */
const concurrencyLimit = (most: number) => {
  const taken = new Map<string, number>()
  return {
    enter: (of: string): (() => void) | undefined => {
      const before = taken.get(of) ?? 0
      if (before >= most) return undefined
      taken.set(of, before + 1)
      return () => {
        const left = taken.get(of)! - 1
        if (left === 0) taken.delete(of)
        else taken.set(of, left)
      }
    },
  }
}
