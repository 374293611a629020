import { useEffect, useMemo } from 'react'
import { columnOf, columnsIn, printColumns, type Column } from './list-columns.js'
import { useSession } from '../kit/session.js'
import { useAddress, usePlace } from '../kit/place.js'
import { useSetting } from '../kit/settings.js'

const MIN_PX = 48
const MAX_PX = 1600

/** A change of the default columns raises it, so that everybody sees them. */
const VERSION = 2

interface ListColumns {
  readonly columns: readonly Column[]
  readonly setColumns: (names: readonly string[]) => void
  /** By name, of the columns whose width was changed. */
  readonly widths: ReadonlyMap<string, number>
  /** Undefined goes back to the default. */
  readonly setWidth: (name: string, width: number | undefined) => void
  readonly resetWidths: () => void
}

/** The columns in the address, or else the last ones that the user chose for the project. */
export const useColumns = (): ListColumns => {
  const { user } = useSession()
  const { projectId } = usePlace()
  const [{ cols = '' }, setAddress] = useAddress()
  const [chosen, setChosen] = useSetting(`columns.${VERSION}.${user.user}.${projectId}`, '')
  const [stored, setStored] = useSetting(`widths.${user.user}`, '')
  const text = cols === '' ? chosen : cols
  useEffect(() => {
    // So that a copied address shows them to others too.
    if (cols === '' && chosen !== '') setAddress({ cols: chosen }, true)
  }, [cols, chosen, setAddress])
  const widths = useMemo(() => widthsIn(stored), [stored])
  return {
    columns: useMemo(() => columnsIn(text).map(columnOf), [text]),
    setColumns: (names) => {
      const next = printColumns(names)
      setChosen(next)
      setAddress({ cols: next })
    },
    widths,
    setWidth: (name, width) => {
      const others = [...widths].filter(([other]) => other !== name)
      const own = width === undefined ? [] : [[name, Math.min(MAX_PX, Math.max(MIN_PX, Math.round(width)))]]
      setStored(JSON.stringify(Object.fromEntries([...others, ...own])))
    },
    resetWidths: () => setStored(''),
  }
}

const widthsIn = (text: string): ReadonlyMap<string, number> => {
  try {
    const widths = Object.entries(JSON.parse(text) as Record<string, unknown>)
    return new Map(widths.filter((entry): entry is [string, number] => typeof entry[1] === 'number'))
  } catch {
    return new Map()
  }
}
