import { join } from 'node:path'
import { hmacSha256 } from '../adapters/system/system.js'
import { fileSnapshots } from '../adapters/snapshots/file-snapshots.js'
import { openAccess } from '../application/access/access.js'
import { parsedCall } from '../application/evaluations/parsed-call.js'
import { completeForService } from '../gateway/completions/for-service.js'
import type { Inference } from '../gateway/gateway.js'
import { publishObject } from '../application/objects/publish.js'
import { resolveRefs } from '../application/refs/resolve.js'
import { sourcesFrom } from '../application/refs/sources.js'
import { foldedCall } from '../application/calls/folded-call.js'
import { throttleFor } from '../application/throttle.js'
import { writeCalls } from '../application/calls/write-calls.js'
import type { Config } from '../config.js'
import { startEvaluations, type Evaluations } from '../dispatch/evaluations/evaluations.js'
import { startOnlineEvaluation } from '../dispatch/evaluations/online.js'
import { httpScorer } from '../dispatch/evaluations/http-scorer.js'
import { askableModel, judgeScorer, type AskModel } from '../dispatch/evaluations/judge-scorer.js'
import { RunFailed, type EvaluationPorts, type RunUser } from '../dispatch/evaluations/ports.js'
import type { Directory } from '../domain/access/directory.js'
import { isAdministrator, principalOfUser, rolesIn } from '../domain/access/look-ups.js'
import { entityOf } from '../kernel/ids.js'
import type { Json } from '../kernel/json/json.js'
import { parseJson } from '../kernel/json/parse.js'
import type { Position } from '../kernel/ports/event-store.js'
import { StoreUnavailable } from '../kernel/ports/event-store-errors.js'
import type { Log } from '../kernel/ports/log.js'
import type { WebhookSender } from '../kernel/ports/webhook-sender.js'
import { parseRef, versionRef } from '../domain/refs/ref.js'
import { secretStream } from '../domain/secrets/events.js'
import type { SigningSecret } from '../domain/webhooks/signing.js'
import type { Api } from './api.js'
import { datasetRows, openCalls, sourceRows } from '../application/evaluations/source-rows.js'
import type { ReadSide } from './read-side.js'
import { rulePorts } from '../application/evaluations/rule-ports.js'
import { NO_GATEWAY, preparingScorers, type PrepareScorer } from '../dispatch/evaluations/prepare-scorer.js'
import type { Stores } from './stores.js'

/** Open runs and the position in the log; it may be deleted while the service is stopped. */
const stateFile = (dataDirectory: string) => join(dataDirectory, 'evaluations.json')

/** The rules in force and the position in the log; it may be deleted while the service is stopped. */
const rulesFile = (dataDirectory: string) => join(dataDirectory, 'evaluation-rules.json')

const END_OF_LOG: Position = 2n ** 63n - 1n
const READABLE_WITHIN_MS = 30_000

interface Around {
  readonly log: Log
  readonly readSide: ReadSide
  /** Undefined in a process without the role `api`. */
  readonly api: Pick<Api, 'access' | 'reading' | 'inference'> | undefined
  readonly webhookSender: WebhookSender
}

/** Works on evaluation runs, where this process has the role of the dispatcher. */
export const openEvaluations = async (
  config: Pick<Config, 'dataDirectory' | 'eventStoreUrl' | 'vendor'>,
  ports: PortsOfRuns & Pick<Stores, 'secrets'>,
  { log, readSide, api, webhookSender }: Around,
): Promise<Evaluations> => {
  const access = api?.access ?? (await openAccess({ ...ports, log }))
  const { lagging } = readSide
  const { vendor } = config
  const ask = api && askingGateway(api.inference, access.directory)
  const ackPosition: PortsAround['ackPosition'] = (projectId, position) =>
    void api?.reading.ackPosition(projectId, position)
  const common = evaluationPorts(ports, {
    log,
    readSide,
    ackPosition,
    directory: access.directory,
    throttle: lagging === undefined ? () => Promise.resolve() : throttleFor(lagging),
    prepareModel: ask && askableModel(ask),
    prepareScorer: preparingScorers({
      judge: ask && judgeScorer(ask),
      http: httpScorer({
        sender: webhookSender,
        hmac: hmacSha256,
        clock: ports.clock,
        vendor,
        secret: signingSecrets(ports),
      }),
    }),
  })
  const evaluations = await startEvaluations(
    { ...common, snapshots: fileSnapshots(stateFile(config.dataDirectory)) },
    { instance: ports.ids.next(), isAlone: config.eventStoreUrl === null },
  )
  const online = await startOnlineEvaluation({
    ...common,
    ...rulePorts(ports, readSide, ackPosition),
    snapshots: fileSnapshots(rulesFile(config.dataDirectory)),
  })
  return {
    stop: async () => {
      await Promise.all([evaluations.stop(), online.stop()])
      if (api === undefined) access.close()
    },
  }
}

interface PortsAround {
  readonly log: Log
  readonly readSide: ReadSide
  readonly directory: () => Directory
  readonly throttle: () => Promise<void>
  /** Makes later reads of the project wait for the position. */
  readonly ackPosition: (projectId: string, position: Position | undefined) => void
  readonly prepareScorer: PrepareScorer
  /** Undefined in a process without a gateway. */
  readonly prepareModel: ReturnType<typeof askableModel> | undefined
}

type PortsOfRuns = Pick<Stores, 'eventStore' | 'blobs' | 'clickHouse'> &
  Pick<EvaluationPorts, 'clock' | 'ids' | 'sha256'>

const evaluationPorts = (ports: PortsOfRuns, around: PortsAround): EvaluationPorts => {
  const { reader } = ports.clickHouse
  const { readSide } = around
  const mayRead = ({ userId }: RunUser, projectId: string): boolean => {
    const directory = around.directory()
    return isAdministrator(directory, userId) || rolesIn(directory, userId, entityOf(projectId)).length > 0
  }
  /** The read models hold everything that is in the log now. */
  const positionNow = async (): Promise<Position> => {
    const head = await ports.eventStore.head()
    if (await readSide.waitFor(head, READABLE_WITHIN_MS)) return readSide.reached()
    // Rows that are not projected yet would be left out of the run.
    throw new StoreUnavailable('the read models lag behind the event log')
  }
  const sources = (user: RunUser) => {
    const position = positionNow()
    return sourcesFrom(reader, (projectId) =>
      mayRead(user, projectId) ? position : Promise.resolve(undefined),
    )
  }
  const object = async (ref: string, user: RunUser): Promise<Json | undefined> => {
    const [text] = await resolveRefs(sources(user), [parseRef(ref)])
    const value = parseJson(text ?? 'null')
    return value === null ? undefined : value
  }
  return {
    ...ports,
    log: around.log,
    throttle: around.throttle,
    object,
    writeCalls: async (writes, cause) => {
      const { position } = await writeCalls(ports)(writes, cause)
      const [write] = writes
      if (write !== undefined)
        around.ackPosition(
          write.type === 'StartCall' ? write.start.project_id : write.end.project_id,
          position,
        )
    },
    call: async (projectId, id) => {
      const call = await foldedCall(ports)(projectId, id, END_OF_LOG)
      return call && parsedCall(call)
    },
    openCalls: async (projectId, runId) => openCalls(reader, projectId, runId, await positionNow()),
    sourceRows: (projectId, runId, user) =>
      sourceRows(ports, projectId, runId, positionNow, () => sources(user)),
    datasetRows: (evaluation, user) => datasetRows(ports, evaluation, positionNow, () => sources(user)),
    model: async (ref, user) => {
      const value = await object(ref, user)
      if (around.prepareModel === undefined) throw new RunFailed(NO_GATEWAY)
      return value === undefined
        ? undefined
        : around.prepareModel(ref, value, (nested) => object(nested, user))
    },
    publishObject: async (projectId, objectId, value, cause) => {
      const { digest, position } = await publishObject(ports)(projectId, objectId, value, cause)
      around.ackPosition(projectId, position)
      return versionRef(projectId, 'object', objectId, digest)
    },
    scorer: async (ref, user) => {
      const value = await object(ref, user)
      return value === undefined
        ? undefined
        : around.prepareScorer(ref, value, (nested) => object(nested, user))
    },
  }
}

const askingGateway =
  (inference: Inference, directory: () => Directory): AskModel =>
  (request, { projectId, scoreId, traceId, userId, keyId, signal }) =>
    completeForService(inference)({
      projectId,
      request,
      traceId,
      signal,
      parentId: scoreId,
      principal: principalOfUser(directory(), userId, keyId),
      cause: { correlationId: scoreId, causationId: scoreId, actor: userId },
    })

/** Versions of a secret that sign at the same time. */
const MAX_VERSIONS = 10

const signingSecrets =
  ({ eventStore, secrets }: Pick<Stores, 'eventStore' | 'secrets'>) =>
  async (team: string, name: string): Promise<readonly SigningSecret[]> => {
    const versions: SigningSecret[] = []
    const newest = eventStore.readStream(secretStream(team, name), { backwards: true, limit: MAX_VERSIONS })
    for await (const { type, data, recordedAt } of newest) {
      if (type === 'SecretDestroyed') break
      const value = await secrets.get({ team, name, version: Number(data['version']) })
      if (value !== undefined) versions.push({ value, storedAt: recordedAt })
    }
    return versions
  }
