import { TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useKeys } from './keys.js'
import { onSubmit } from './on-submit.js'
import { useAddress } from './place.js'

interface SearchBoxProps {
  readonly label: string
  /** In the address. */
  readonly name?: string
  readonly placeholder?: string
}

/** A text that a list is searched for, in the address. */
export const SearchBox = ({ label, name = 'q', placeholder = 'Search' }: SearchBoxProps) => {
  const [{ [name]: q = '' }, setAddress] = useAddress()
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(q)
  useEffect(() => setText(q), [q])
  useKeys(name === 'q' ? { '/': () => input.current?.focus() } : {})
  const search = () => {
    if (text.trim() !== q) setAddress({ [name]: text.trim() })
  }
  return (
    <form onSubmit={onSubmit(search)}>
      <TextInput
        ref={input}
        size="xs"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={search}
        w={180}
      />
    </form>
  )
}
