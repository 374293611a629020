import { useEffect, useRef } from 'react'

type Keys = Readonly<Record<string, () => void>>

const NO_TEXT: readonly string[] = ['checkbox', 'radio', 'button', 'submit']

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLInputElement
    ? !target.readOnly && !NO_TEXT.includes(target.type)
    : target instanceof HTMLElement &&
      (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName))

/** Enter belongs to the link or button that has the focus. */
const isActivating = ({ key, target }: KeyboardEvent): boolean =>
  key === 'Enter' && target instanceof Element && target.closest('a, button, summary') !== null

const isInDialog = (): boolean => document.querySelector('[role="dialog"]') !== null

/** Single keys and sequences such as `g t`. They do nothing while the user types or a dialog is open. */
export const useKeys = (keys: Keys): void => {
  const known = useRef(keys)
  useEffect(() => {
    known.current = keys
  })
  useEffect(() => {
    let before = ''
    let pressedAt = 0
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isTyping(event) || isActivating(event) || isInDialog()) return
      if (event.ctrlKey || event.metaKey || event.altKey) return
      const sequence = `${before} ${event.key}`
      const action =
        (before !== '' && event.timeStamp - pressedAt < 1000 ? known.current[sequence] : undefined) ??
        known.current[event.key]
      before = event.key
      pressedAt = event.timeStamp
      if (action === undefined) return
      event.preventDefault()
      before = ''
      // Enter after this key is about what it chose, and no longer about the button.
      if (event.target instanceof HTMLElement && event.target.matches('a, button')) event.target.blur()
      action()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
}
