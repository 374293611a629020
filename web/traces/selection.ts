import { useState } from 'react'
import type { Row } from './call-cells.js'

export interface Selection {
  readonly rows: readonly Row[]
  readonly has: (id: string) => boolean
  /** Adds or removes a row; with `isRange` all rows from the last one that was changed. */
  readonly toggle: (index: number, isRange?: boolean) => void
  readonly setAll: (isOn: boolean) => void
  readonly clear: () => void
}

/** The rows that actions are for. Rows that left the list are not selected. */
export const useSelection = (rows: readonly Row[]): Selection => {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [last, setLast] = useState<string>()
  const set = (changed: readonly Row[], isOn: boolean) => {
    const next = new Set(ids)
    for (const { id } of changed)
      if (isOn) next.add(id)
      else next.delete(id)
    setIds(next)
  }
  return {
    rows: rows.filter(({ id }) => ids.has(id)),
    has: (id) => ids.has(id),
    toggle: (index, isRange = false) => {
      const row = rows[index]
      if (row === undefined) return
      const from = isRange ? rows.findIndex(({ id }) => id === last) : -1
      const changed = from < 0 ? [row] : rows.slice(Math.min(from, index), Math.max(from, index) + 1)
      set(changed, from >= 0 || !ids.has(row.id))
      setLast(row.id)
    },
    setAll: (isOn) => set(rows, isOn),
    clear: () => setIds(new Set()),
  }
}
