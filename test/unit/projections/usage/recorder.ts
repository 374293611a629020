import * as E from 'fp-ts/lib/Either.js'
import { callDecider, type CallState, type CallCommand } from '../../../../src/domain/calls/call.js'
import { decode, type Codec } from '../../../../src/kernel/codec/codec.js'
import { isJsonObject, type Json } from '../../../../src/kernel/json/json.js'
import { wellFormed } from '../../../../src/kernel/json/well-formed.js'
import { projectDecider, type UsageReporting } from '../../../../src/domain/projects/project.js'
import { endCall, type StartWrite } from '../../../../src/application/calls/record.js'
import { endedCall, startedCall, startWrite } from '../../../../src/api/calls/client-call.js'
import type { ProjectedEvent } from '../../../../src/projections/projection.js'
import { eventCompleter } from '../../../support/completed-events.js'
import type { Operation } from '../../../support/oracle/operations.js'

/** Positions leave gaps, as those of the stores do. */
const GAP = 3n

/** Decodes what a client sends, lets the deciders decide and keeps the events: the service without its edges. */
export class Recorder {
  readonly #calls = new Map<string, CallState>()
  #project = projectDecider.initialState()
  readonly #complete = eventCompleter()
  readonly events: ProjectedEvent[] = []
  head = 0n

  constructor(
    readonly projectId: string,
    /** The calls with all that descends from them, as the read side knows them now. */
    private readonly withDescendants: (ids: readonly string[]) => Promise<readonly string[]>,
  ) {}

  async take(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case 'start': {
        const write = writtenBy(startWrite(...this.#started(operation.start)))
        this.#decide(write.start.id, {
          ...write,
          parentTrace: this.#parentTrace(write.start),
          userId: 'user',
        })
        return
      }
      case 'end': {
        const write = endCall(read(endedCall, operation.end))
        this.#decide(write.end.id, write)
        return
      }
      case 'update': {
        const { call_id, display_name } = { ...operation, call_id: operation.call_id.toWellFormed() }
        const command = { type: 'RenameCall', project_id: this.projectId, id: call_id, display_name } as const
        this.#decide(call_id, command)
        return
      }
      case 'delete': {
        const ids = operation.call_ids.map((id) => id.toWellFormed())
        for (const id of new Set([...ids, ...(await this.withDescendants(ids))]))
          this.#decide(id, { type: 'DeleteCall', project_id: this.projectId, id })
        return
      }
      case 'reporting':
        this.#choose(operation.usage_reporting)
        return
    }
  }

  #started(start: unknown): Parameters<typeof startWrite> {
    const call = read(startedCall, start)
    if (call.id === null) throw new Error('a case gives every start an id')
    return [call, call.id]
  }

  #parentTrace(start: {
    readonly trace_id: string | null
    readonly parent_id: string | null
  }): string | null {
    if (start.trace_id !== null || start.parent_id === null) return null
    return this.#calls.get(start.parent_id)?.start?.trace_id ?? null
  }

  #decide(id: string, command: CallCommand): void {
    let state = this.#calls.get(id) ?? callDecider.initialState()
    for (const event of callDecider.decide(state, command).events) {
      state = callDecider.evolve(state, event)
      this.#record(event)
    }
    this.#calls.set(id, state)
  }

  #choose(usage_reporting: UsageReporting): void {
    const command = { type: 'ChooseUsageReporting', project_id: this.projectId, usage_reporting } as const
    for (const event of projectDecider.decide(this.#project, command).events) {
      this.#project = projectDecider.evolve(this.#project, event)
      this.#record(event)
    }
  }

  #record({ type, data }: { readonly type: string; readonly data: object }): void {
    this.head += GAP
    this.events.push(this.#complete({ type, data, position: this.head }))
  }
}

/** Clients cannot say that the gateway wrote a call; cases can. */
const writtenBy = (write: StartWrite): StartWrite => {
  const weave = write.start.attributes?.['weave']
  return isJsonObject(weave) && weave['source'] === 'gateway' ? { ...write, source: 'gateway' } : write
}

/** Decoded as the API decodes it; a case sends nothing that is refused. */
export const read = <A>(codec: Codec<A>, sent: unknown): A => {
  const decoded = decode(codec)(wellFormed(sent as Json))
  if (E.isLeft(decoded)) throw new Error(`refused: ${JSON.stringify(decoded.left)}`)
  return decoded.right
}
