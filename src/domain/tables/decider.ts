import { nothing, type Decider } from '../../kernel/decider.js'
import type { TableCommand } from './commands.js'
import type { TableEvent } from './events.js'

interface TableState {
  /** Digests of the stored packs. */
  readonly packs: Set<string>
  readonly published: boolean
}

/** Repeating the commands completes a table whose upload was interrupted. */
export const tableDecider: Decider<TableState, TableCommand, TableEvent> = {
  initialState: () => ({ packs: new Set(), published: false }),

  evolve: (state, { type, data }) => {
    switch (type) {
      case 'TableRowsStored':
        state.packs.add(data.pack)
        return state
      case 'TablePublished':
        return { ...state, published: true }
      default:
        return state
    }
  },

  decide: ({ packs, published }, command) => {
    if (published) return nothing
    switch (command.type) {
      case 'StoreTableRows':
        if (packs.has(command.rows.pack)) return nothing
        return { events: [{ type: 'TableRowsStored', data: command.rows }] }
      case 'PublishTable':
        return { events: [{ type: 'TablePublished', data: command.table }] }
    }
  },
}
