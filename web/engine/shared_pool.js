// The workers of every scene that asks long questions.
import { Pool } from './pool.js';

export const pool = new Pool();
