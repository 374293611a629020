import * as E from 'fp-ts/lib/Either.js'
import type * as t from 'io-ts'
import type { Services } from '../../application/services.js'
import { nullable, recordOf } from '../../kernel/codec/containers.js'
import { int64, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import type { Cause } from '../../kernel/event.js'
import { execute } from '../../kernel/execute.js'
import { id } from '../../kernel/ids.js'
import { parseTemplate } from '../../domain/webhooks/templates/parse.js'
import { render, type RenderError } from '../../domain/webhooks/templates/render.js'
import { templateText } from '../../domain/webhooks/automations/events.js'
import { webhookDecider, type Webhook } from '../../domain/webhooks/decider.js'
import { webhookStream } from '../../domain/webhooks/events.js'
import type { SigningSecret } from '../../domain/webhooks/signing.js'
import { roleInTeam } from '../server/authorization.js'
import { Failure, invalidBody } from '../../application/failure.js'
import type { AnyRoute, RouteResponse } from '../server/route.js'
import { writeDirectory } from '../server/route-kinds.js'
import { requireExisting, WEBHOOK_PATH, webhookInPath } from './one-webhook.js'
import { secretValuesOf } from '../../application/secrets/secret-values.js'
import { sendTest, type TestResponse } from '../../application/webhooks/send-test.js'

const newTest = closed('WebhookTest', {
  says: 'A payload template as in automations. It is sent once and not stored.',
  optional: { payload: nullable(templateText) },
})

const testAnswer = open('WebhookTestAnswer', {
  says: 'The response of the endpoint, with the secrets of the webhook redacted. `error`: why there was no response.',
  required: { id, status: nullable(int64), headers: recordOf(string), body: string, error: nullable(string) },
})

const USUAL_PAYLOAD = '{"event_type": "TEST"}'
const MOST_AT_ONCE = 4

/** Sends one test message through the same SSRF guard as deliveries. */
export const testWebhook = (
  services: Pick<
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
  >,
): AnyRoute => {
  const send = sendTest(services)
  const ofTeam = concurrencyLimit(MOST_AT_ONCE)
  const tested = async (webhook: Webhook, template: Template, cause: Cause): Promise<RouteResponse> => {
    const { team, id, content } = webhook
    const leave = ofTeam.enter(team)
    if (leave === undefined)
      throw new Failure(
        'overloaded',
        `The team already has ${MOST_AT_ONCE} webhook tests running. Try again.`,
        { retryAfter: 5 },
      )
    try {
      const [accessTokens, secrets] = await Promise.all([
        secretValuesOf(services, team, content.access_token),
        secretValuesOf(services, team, content.secret),
      ])
      const body = bodyOf(template, accessTokens[0], secrets[0])
      const isWhole =
        (content.access_token === null || accessTokens.length > 0) &&
        (content.secret === null || secrets.length > 0)
      if (!isWhole || E.isLeft(body))
        return { body: unsent(services.ids.next(), E.isLeft(body) ? body.left : 'missing_secret') }
      const { durationMs, ...answer } = await send(
        { url: content.url, timeout_s: content.timeout_s, accessTokens, secrets },
        new TextEncoder().encode(body.right),
        services.endingTests,
      )
      const command = {
        type: 'RecordTest',
        id,
        team,
        status: answer.status,
        duration_ms: durationMs,
      } as const
      const { position } = await execute(services)(webhookDecider, webhookStream(id), [command], cause)
      if (answer.error === 'aborted') throw ending()
      return { body: answer, position }
    } finally {
      leave()
    }
  }

  return writeDirectory({
    method: 'post',
    path: `${WEBHOOK_PATH}/test`,
    summary:
      'Sends a test message to a webhook, even a disabled one, and returns the response of its endpoint. The payload may ' +
      "reference the webhook's secrets. Needs the role team_administrator.",
    body: newTest,
    response: testAnswer,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: async (request) => {
      const webhook = requireExisting(await webhookInPath(services, request))
      const template = templateOf(webhook, request.body.payload ?? USUAL_PAYLOAD)
      return (cause) => tested(webhook, template, cause)
    },
  })
}
/** The message may have arrived. */
const ending = () =>
  new Failure('overloaded', 'The service is stopping before the endpoint has responded. Try again.', {
    retryAfter: 5,
  })

type Template = ReturnType<typeof templateOf>

const templateOf = ({ content: { access_token, secret } }: Webhook, payload: string) => {
  const parsed = parseTemplate(payload, { accessToken: access_token, secret })
  if (E.isLeft(parsed)) throw invalidBody([{ loc: ['payload'], type: 'value_error', ...parsed.left }])
  return parsed.right
}

const bodyOf = (
  template: Template,
  token: SigningSecret | undefined,
  secret: SigningSecret | undefined,
): E.Either<RenderError, string> => {
  const rendered = render(template, {}, ({ kind }) => (kind === 'access_token' ? token : secret)?.value)
  return E.isRight(rendered) ? E.right(rendered.right.body) : rendered
}

const unsent = (
  id: string,
  error: string,
): t.TypeOf<typeof testAnswer> & Omit<TestResponse, 'durationMs'> => ({
  id: `test_${id}`,
  status: null,
  headers: {},
  body: '',
  error,
})

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
