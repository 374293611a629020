import { describedAs } from '../../kernel/codec/codec.js'
import { int64 } from '../../kernel/codec/leaves.js'

export const erasedCallsField = describedAs(int64, {
  description:
    'Calls of the project that started in the range, or on its first or last day, and whose figures were erased: they are missing in these totals, whatever is selected.',
})

export const erasedHeader = (count: number): Readonly<Record<string, string>> =>
  count === 0 ? {} : { 'Tallytree-Erased-Calls': String(count) }
