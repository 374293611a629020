import type { Problem } from '../../kernel/codec/problem.js'
import type { ScoringTools } from '../../kernel/ports/scoring-tools.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { jsonBytesAtMost } from '../../kernel/json/measure.js'
import { parseJson } from '../../kernel/json/parse.js'
import { isAnnotation, referenceProblem } from '../../domain/feedback/kinds.js'
import { parseRef } from '../../domain/refs/ref.js'
import { liveQueue } from '../annotation-queues/queues.js'
import { Failure } from '../failure.js'
import { versionsFromLog } from '../objects/object-from-log.js'
import type { Principal } from '../principal.js'
import type { Services } from '../services.js'
import type { FeedbackCreate } from './new-feedback.js'

export type CheckServices = Pick<Services, 'eventStore' | 'blobs' | 'access' | 'scoringTools'>

const MAX_BYTES = 1024 * 1024
/** CPU time. A schema can take 2 s to compile, and a batch can name many. */
const MAX_COMPILE_MS = 2_000
/** SDKs send the halves of a batch after a 413. */
const TOO_MANY_SCHEMAS =
  'The field schemas of the annotation columns take too long to compile. Give less feedback at once.'

type CheckValue = (value: Json) => string | undefined

/**
 * Checks what feedback refers to, as the original service does with a 400: its annotation queue, and the annotation column
 * with the JSON Schema of its values. Everything is read from the log.
 */
export const feedbackChecks = (services: CheckServices) => {
  const { access, scoringTools } = services
  const readVersion = versionsFromLog(services)

  const columnOf = async (principal: Principal, ref: string): Promise<Json | undefined> => {
    const named = parseRef(ref)
    if (named?.kind !== 'object' || !access.canAccessProject(principal, named.projectId)) return undefined
    const { projectId, objectId, version } = named
    const found = await readVersion({ projectId, objectId, version, position: END_OF_LOG, withVal: true })
    return found?.deleted_at === null ? parseJson(found.val!) : undefined
  }

  return async (
    principal: Principal,
    batch: readonly FeedbackCreate[],
    placed: (problem: Problem, index: number) => Problem,
  ): Promise<void> => {
    const remembered = memory()
    let spent = 0
    const checkOf = async (ref: string): Promise<CheckValue | undefined> => {
      const column = await columnOf(principal, ref)
      if (column === undefined) return undefined
      if (spent > MAX_COMPILE_MS) throw new Failure('too-large', TOO_MANY_SCHEMAS)
      const began = scoringTools.cpuMs()
      const check = valueCheck(scoringTools, column)
      spent += scoringTools.cpuMs() - began
      return check
    }

    const problemOf = async (
      one: FeedbackCreate,
    ): Promise<readonly [field: string, says: string] | undefined> => {
      const problem = referenceProblem(one)
      if (problem !== undefined) return problem
      const { project_id, queue_id, annotation_ref } = one
      const queue = () => liveQueue(services, project_id, queue_id!)
      if (queue_id !== null && (await remembered(`${project_id} ${queue_id}`, queue)) === undefined)
        return ['queue_id', 'no such annotation queue in this project']
      if (!isAnnotation(one.feedback_type)) return undefined
      const check = await remembered(annotation_ref!, () => checkOf(annotation_ref!))
      if (check === undefined)
        return ['annotation_ref', 'the object version does not exist, or is not readable']
      const says = check(one.payload['value']!)
      return says === undefined ? undefined : ['payload.value', says]
    }

    for (const [index, one] of batch.entries()) {
      const problem = await problemOf(one)
      if (problem === undefined) continue
      const [field, says] = problem
      const { loc } = placed({ loc: field.split('.'), type: '', msg: '' }, index)
      throw new Failure('bad-request', `${loc.join('.')}: ${says}.`)
    }
  }
}

const END_OF_LOG = 2n ** 63n

/** Remembers answers for the elements of one batch. */
const memory = () => {
  const answers = new Map<string, unknown>()
  return async <A>(key: string, ask: () => Promise<A>): Promise<A> => {
    if (!answers.has(key)) answers.set(key, await ask())
    return answers.get(key) as A
  }
}

/** How the values of an annotation column are checked; any value fits a column without a schema. */
const valueCheck = (tools: ScoringTools, column: Json): CheckValue => {
  const schema = isJsonObject(column) ? column['field_schema'] : undefined
  if (!isJsonObject(schema ?? null)) return () => undefined
  const compiled = tools.compileSchema(schema as Parameters<ScoringTools['compileSchema']>[0])
  if ('error' in compiled) return () => `the field_schema of the column is not usable: ${compiled.error}`
  return (value) => {
    if (jsonBytesAtMost(value, MAX_BYTES) > MAX_BYTES) return `a value should have at most ${MAX_BYTES} bytes`
    const result = tools.withinTime(() => compiled.validate(value))
    if ('error' in result) return `the check by the field_schema of the column ${result.error}`
    return result.value.length === 0
      ? undefined
      : `the value does not fit the column: ${result.value.join('; ')}`
  }
}
